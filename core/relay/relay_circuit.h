// One circuit through a relay: chunks from upstream to downstream, frames without payload in both directions.
//
// A chunk is forwarded as soon as the downstream link can send, while the next one arrives in another slot. With a
// cut-through transport the relay forwards the head of a chunk while its tail is still arriving.
//
// One slot, the floor, belongs to the circuit for its whole lifetime, so a circuit never depends on the slots of
// another one and cannot deadlock. A circuit leases further slots (slot_pool.h) when more than half of its slots are
// full at the end of a pass, so small messages that leave at once lease nothing. While it holds a lease, its links
// are wide. A circuit returns all its leases together: when nothing has moved for a while, when it has held them for
// a while and other circuits wait, and when it ends. A return takes until the chunks in the slots have left, and over
// RDMA until the neighbour answers, which may never happen; so the pool counts on a return for a limited time only.
//
// A circuit stamps the port through which its chunks leave (core/gate/port_stamps.h). An alternate reads the stamp
// instead. It informs the flow's source when the port is in use, or the relay has no time for alternates
// (core/gate/relay_load.h), and when that ends; chunks already on their way are still relayed. The announcements show
// whether an alternate is now its flow's primary, which competes like any other circuit. Every source is informed of
// the load of the busiest port from here on (core/gate/byte_rate.h).
//
// One thread at a time. Allocates nothing after construction, copies nothing, and never blocks.
#ifndef CABLEWAY_CORE_RELAY_RELAY_CIRCUIT_H_
#define CABLEWAY_CORE_RELAY_RELAY_CIRCUIT_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/clock.h"
#include "core/flow/chunk_link.h"
#include "core/gate/byte_rate.h"
#include "core/gate/port_gate.h"
#include "core/gate/port_stamps.h"
#include "core/gate/relay_load.h"
#include "core/relay/slot_pool.h"

namespace cableway {

// Names of this node's two hop ends, for failure reasons (core/circuit/hop_names.h).
struct RelayNames {
  std::string upstream = "relay, upstream";
  std::string downstream = "relay, downstream";
  bool upstream_is_source = false;
};

// How a circuit leaves the relay.
struct RelayEgress {
  // The time of the thread that relays, which reads its clock once for many circuits: one reading for each chunk would
  // take a tenth of the chunk's time over RDMA. Must outlive the circuit. Null: the port is neither stamped nor read.
  const Instant* now = nullptr;
  EgressPort port;
  bool is_alternate = false;
  const RelayLoad* load = nullptr;  // the relaying thread's load, which must outlive the circuit; null: never too high
};

class RelayCircuit {
 public:
  // The floor and the pool's slots must suit the links' transports. Links and pool must outlive this. The constructor
  // does not use the pool.
  RelayCircuit(ChunkLink& upstream, ChunkLink& downstream, std::unique_ptr<Slot> floor, SlotPool& pool,
               RelayNames names = {}, RelayEgress egress = {});
  // Returns the leases. By then the links must be fenced or destroyed.
  ~RelayCircuit();
  RelayCircuit(const RelayCircuit&) = delete;
  RelayCircuit& operator=(const RelayCircuit&) = delete;

  // Forwards what can be forwarded, up to a budget that keeps one circuit from starving the others. Returns whether
  // more can be forwarded now. A status other than OK is final: it names the side that failed and the reason, which
  // has been sent to the other side. A reason received from a side has been passed on unchanged, with its scope.
  absl::StatusOr<bool> progress();
  // Ends the circuit for a fault that this node has found: sends the reason to both sides with scope kCircuit, and
  // returns the leases.
  void fail(const absl::Status& reason) { end(reason.message(), FailureScope::kCircuit); }

  // To be called at regular intervals, whether or not the circuit is idle: returns leases when due. Makes no system
  // call if no lease is held.
  void tick();
  // A circuit returns its leases after this number of idle intervals.
  static constexpr std::uint32_t kIdleTicks = 4;
  // A circuit returns leases held for this number of intervals if other circuits wait.
  static constexpr std::uint32_t kHeldTicks = 4;
  // After this number of intervals of returning, the pool no longer counts on these leases. By then a wide link's
  // queue has drained over cables of 10 Mbit/s and faster.
  static constexpr std::uint32_t kReturnTicks = 8;

  // To be called a few times a second: measures the load that flows' own paths put on the ports from here on. If
  // has_news() then, progress() reports it to the source.
  void look_at_load();
  bool has_news() const { return (is_closed() != told_closed_ || load() != told_load_) && is_worth_telling(); }
  // Whether look_at_gate() is to be called every kLookAtGate: no other event shows that the port is idle again.
  bool waits_for_gate() const { return is_closed_; }
  void look_at_gate();
  static constexpr std::chrono::milliseconds kLookAtGate{5};

  std::uint64_t chunks_relayed() const { return chunks_; }
  std::uint64_t bytes_relayed() const { return bytes_; }
  // Slots that hold a chunk or part of one.
  std::size_t slots_in_use() const { return in_use_; }
  // Slots that may hold a chunk: the floor first, then the leased ones.
  std::vector<const Slot*> slots() const;
  // Leased slots, including those being returned.
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

  void end(absl::string_view reason, FailureScope scope);
  bool is_left(const absl::Status& status) const;
  void send_waiting();
  bool is_gate_closed(Instant now);
  // A chunk begins to leave, or has left.
  void note_leaving();
  void note_left();
  bool is_closed() const { return is_closed_ || closed_ahead_; }
  std::uint64_t load() const { return std::max(load_.per_second(), load_ahead_); }
  bool is_worth_telling() const;
  // Reports to the source what has changed.
  absl::Status tell_gate();
  absl::Status move_once();
  void take_back(Slot& slot);
  // Returns whether it leased a slot.
  bool lease_if_needed();
  void note_unmet();
  void stop_waiting();
  bool should_give_back() const;
  void begin_giving_back();
  void give_back();
  void return_leases();
  // More than half of the circuit's slots hold chunks. The others may be credits in flight to upstream, which is
  // running out of credits.
  bool offers_few() const { return 2 * in_use_ > 1 + leased_.size(); }
  std::uint64_t bytes_moved() const { return upstream_.bytes_moved() + downstream_.bytes_moved(); }

  ChunkLink& upstream_;
  ChunkLink& downstream_;
  const RelayNames names_;
  const std::unique_ptr<Slot> floor_;
  SlotPool& pool_;
  std::vector<Slot*> leased_;     // in use or posted, as the floor is
  std::vector<Slot*> parked_;     // leased and empty: kept until the other leases are empty and the links are narrow
  std::vector<Waiting> waiting_;  // a ring with room for every slot: chunks not yet passed downstream
  std::uint64_t waiting_first_ = 0;
  std::uint64_t waiting_end_ = 0;
  std::size_t in_use_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t bytes_ = 0;

  bool giving_back_ = false;
  std::size_t promised_ = 0;           // slots of this circuit that the pool counts as being returned
  std::uint32_t returning_ticks_ = 0;  // intervals since the return began
  bool waits_ = false;                 // counted by the pool as waiting
  bool found_none_ = false;            // found no free slot to lease since the last tick()
  bool skips_leasing_ = false;         // leases nothing until the next tick(), so that waiting circuits get the slots
  std::uint32_t held_ticks_ = 0;
  std::uint32_t idle_ticks_ = 0;
  std::uint64_t moved_at_tick_ = 0;

  const RelayEgress egress_;
  PortGate gate_;
  bool competes_ = true;       // for its port: it is not an alternate, or is its flow's primary
  bool is_closed_ = false;     // this relay's gate
  bool closed_ahead_ = false;  // a later relay's gate
  bool told_closed_ = false;
  ByteRate load_;
  std::uint64_t chunks_at_news_ = 0;
  std::uint64_t load_ahead_ = 0;  // as a later relay has reported
  std::uint64_t told_load_ = 0;
  std::size_t sending_ = 0;  // chunks that are leaving
  Instant leaving_since_;    // when the oldest of them began to leave
  Duration chunk_time_{0};   // the time that the last chunk took

  Upstream from_upstream_{*this};
  Downstream from_downstream_{*this};
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RELAY_RELAY_CIRCUIT_H_
