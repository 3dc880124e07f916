// One circuit through a relay: chunks from upstream to downstream, announcements and acknowledgements back.
//
// A chunk moves as soon as the downstream link can take it, while the next one arrives in another slot: the relay is a
// pipeline, and with a transport that cuts through it forwards the head of a chunk while its tail is still arriving.
//
// One slot, the floor, is the circuit's own for life, so what waits here waits for this circuit alone and no cycle of
// waits can form. Further ones are leased (slot_pool.h) by a circuit with more than half of its slots full at the end
// of a pass, so small messages that leave at once lease nothing; while it holds a lease its links are wide. All of a
// circuit's leases go back together: when nothing has moved for a while, when it has held them for a while and others
// wait, and when it ends. That takes as long as what they hold takes to leave, and over RDMA as long as the neighbour
// takes to answer, which may be for ever: it is counted on by those who wait for a while only.
//
// One thread at a time. Allocates nothing after construction, copies nothing, and never waits.
#ifndef CABLEWAY_CORE_RELAY_RELAY_CIRCUIT_H_
#define CABLEWAY_CORE_RELAY_RELAY_CIRCUIT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/flow/chunk_link.h"
#include "core/relay/slot_pool.h"

namespace cableway {

// This node's two ends, for the reasons that the circuit's ends are given (core/circuit/hop_names.h).
struct RelayNames {
  std::string upstream = "relay, upstream";
  std::string downstream = "relay, downstream";
};

class RelayCircuit {
 public:
  // The floor and the pool's slots come from the links' transport. Links and pool outlive this. Does not use the pool.
  RelayCircuit(ChunkLink& upstream, ChunkLink& downstream, std::unique_ptr<Slot> floor, SlotPool& pool,
               RelayNames names = {});
  // Gives back what is leased. The links must be fenced by then, or gone.
  ~RelayCircuit();
  RelayCircuit(const RelayCircuit&) = delete;
  RelayCircuit& operator=(const RelayCircuit&) = delete;

  // Moves what can be moved, up to a budget that keeps one circuit from starving the others. Returns whether more can
  // be moved now. A status other than OK is final: it says which side died and why, and the other side has been told.
  absl::StatusOr<bool> progress();
  // Ends the circuit, tells both sides why, and gives back what is leased.
  void fail(const absl::Status& reason);

  // To be called at even intervals, whether anything moves or not: sees to it that leases go back. It asks the kernel
  // nothing where none is held.
  void rest();
  // Idle for so many intervals: the leases go back.
  static constexpr std::uint32_t kIdleRests = 4;
  // Held for so many intervals, and other circuits wait: the leases go back.
  static constexpr std::uint32_t kHeldRests = 4;
  // On their way back for so many intervals: others are asked for theirs. A wide link's queue has left by then over
  // cables of 10 Mbit/s and faster.
  static constexpr std::uint32_t kReturnRests = 8;

  std::uint64_t chunks_relayed() const { return chunks_; }
  std::uint64_t bytes_relayed() const { return bytes_; }
  // Slots that hold a chunk or part of one.
  std::size_t slots_in_use() const { return in_use_; }
  // Those that a chunk may be in: its own one first, then what it has leased.
  std::vector<const Slot*> slots() const;
  // Leased slots, those that are on their way back included.
  std::size_t leases() const { return leased_.size() + parked_.size(); }

 private:
  class Upstream final : public ChunkLink::Sink {
   public:
    explicit Upstream(RelayCircuit& circuit) : circuit_(circuit) {}
    absl::Status on_landed(const Frame&) override;
    absl::Status on_chunk(const Frame& chunk, Slot& slot) override;
    absl::Status on_control(const Frame& control) override;
    void on_sent(Slot*) override {}

   private:
    RelayCircuit& circuit_;
  };

  class Downstream final : public ChunkLink::Sink {
   public:
    explicit Downstream(RelayCircuit& circuit) : circuit_(circuit) {}
    absl::Status on_landed(const Frame&) override;
    absl::Status on_chunk(const Frame&, Slot&) override;
    absl::Status on_control(const Frame& control) override;
    void on_sent(Slot* slot) override;

   private:
    RelayCircuit& circuit_;
  };

  struct Waiting {
    Frame chunk;
    Slot* slot = nullptr;
  };

  void send_waiting();
  absl::Status move_once();
  void take_back(Slot& slot);
  // Whether there is one slot more now.
  bool lease_if_needed();
  void note_unmet();
  void stop_waiting();
  bool should_give_back() const;
  void begin_giving_back();
  void give_back();
  void return_leases();
  // More than half of its slots hold chunks: what is left to be offered may be on its way up as credits, and runs out.
  bool offers_few() const { return 2 * in_use_ > 1 + leased_.size(); }
  std::uint64_t bytes_moved() const { return upstream_.bytes_moved() + downstream_.bytes_moved(); }

  ChunkLink& upstream_;
  ChunkLink& downstream_;
  const RelayNames names_;
  const std::unique_ptr<Slot> floor_;
  SlotPool& pool_;
  std::vector<Slot*> leased_;     // in use or posted, like the floor
  std::vector<Slot*> parked_;     // leased, and empty: they wait for the others, and for the links to be narrow
  std::vector<Waiting> waiting_;  // a ring with room for every slot: chunks that downstream has not taken yet
  std::uint64_t waiting_first_ = 0;
  std::uint64_t waiting_end_ = 0;
  std::size_t in_use_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t bytes_ = 0;

  bool giving_back_ = false;
  std::size_t promised_ = 0;           // slots that the pool counts as on their way back from here
  std::uint32_t returning_rests_ = 0;  // since that began
  bool waits_ = false;                 // is counted by the pool
  bool unmet_ = false;                 // since the last rest() it wanted a slot and found none
  bool sits_out_ = false;              // until the next rest(): others come first
  std::uint32_t held_rests_ = 0;
  std::uint32_t idle_rests_ = 0;
  std::uint64_t moved_at_rest_ = 0;

  Upstream from_upstream_{*this};
  Downstream from_downstream_{*this};
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RELAY_RELAY_CIRCUIT_H_
