// One circuit through a relay: chunks from upstream to downstream, announcements and acknowledgements back.
//
// A chunk moves as soon as the downstream link can take it, while the next one arrives in another slot: the relay is a
// pipeline, and with a transport that cuts through it forwards the head of a chunk while its tail is still arriving.
// The slots are this circuit's own, so what waits here waits for this circuit alone and no cycle of waits can form.
//
// One thread at a time. Allocates nothing after construction, copies nothing, and never waits.
#ifndef CABLEWAY_CORE_RELAY_CIRCUIT_H_
#define CABLEWAY_CORE_RELAY_CIRCUIT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/chunk_link.h"

namespace cableway {

// The nodes on both sides and this one, for the reasons that the ends are given.
struct RelayNames {
  std::string self = "relay";
  std::string upstream = "upstream";
  std::string downstream = "downstream";
};

class RelayCircuit {
 public:
  // Slots come from the links' transport. Links outlive this.
  RelayCircuit(ChunkLink& upstream, ChunkLink& downstream, std::vector<std::unique_ptr<Slot>> slots,
               RelayNames names = {});
  RelayCircuit(const RelayCircuit&) = delete;
  RelayCircuit& operator=(const RelayCircuit&) = delete;

  // Moves what can be moved, up to a budget that keeps one circuit from starving the others. Returns whether more can
  // be moved now. A status other than OK is final: it says which side died and why, and the other side has been told.
  absl::StatusOr<bool> progress();
  // Ends the circuit and tells both sides why.
  void fail(const absl::Status& reason);

  std::uint64_t chunks_relayed() const { return chunks_; }
  std::uint64_t bytes_relayed() const { return bytes_; }
  // Slots that hold a chunk or part of one.
  std::size_t slots_in_use() const;

 private:
  class Upstream final : public ChunkLink::Owner {
   public:
    explicit Upstream(RelayCircuit& circuit) : circuit_(circuit) {}
    absl::Status on_landed(const Frame&) override;
    absl::Status on_chunk(const Frame& chunk, Slot& slot) override;
    absl::Status on_control(const Frame& control) override;
    void on_sent(Slot*) override {}

   private:
    RelayCircuit& circuit_;
  };

  class Downstream final : public ChunkLink::Owner {
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
  absl::Status blame(const std::string& node, const absl::Status& reason) const;
  std::uint64_t bytes_moved() const { return upstream_.bytes_moved() + downstream_.bytes_moved(); }

  ChunkLink& upstream_;
  ChunkLink& downstream_;
  const RelayNames names_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Waiting> waiting_;  // a ring as large as slots_: chunks that downstream has not taken yet
  std::uint64_t waiting_first_ = 0;
  std::uint64_t waiting_end_ = 0;
  std::size_t in_use_ = 0;
  std::uint64_t chunks_ = 0;
  std::uint64_t bytes_ = 0;
  Upstream from_upstream_{*this};
  Downstream from_downstream_{*this};
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RELAY_CIRCUIT_H_
