// A circuit in memory: a source's link, any number of relays, a destination's link. Nothing moves until a test steps
// it.
#ifndef CABLEWAY_TESTS_CORE_FLOW_MEMORY_CIRCUIT_H_
#define CABLEWAY_TESTS_CORE_FLOW_MEMORY_CIRCUIT_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/relay/relay_circuit.h"
#include "sim/cable/memory_chunk_link.h"

namespace cableway::test {

class MemoryCircuit {
 public:
  // All relays lease from one pool, which must outlive this.
  MemoryCircuit(std::size_t relays, SlotPool& pool, std::size_t chunk_bytes) {
    for (std::size_t i = 0; i <= relays; ++i) {
      auto [left, right] = sim::MemoryChunkLink::make_pair();
      ends_.push_back(std::move(left));
      ends_.push_back(std::move(right));
    }
    for (std::size_t i = 0; i < relays; ++i) {
      relays_.push_back(std::make_unique<RelayCircuit>(*ends_[2 * i + 1], *ends_[2 * i + 2],
                                                       std::make_unique<sim::MemorySlot>(chunk_bytes), pool,
                                                       RelayNames{.upstream_is_source = i == 0}));
    }
  }

  sim::MemoryChunkLink& source() { return *ends_.front(); }
  sim::MemoryChunkLink& destination() { return *ends_.back(); }
  // Both ends of every hop, from the source on.
  std::vector<std::unique_ptr<sim::MemoryChunkLink>>& ends() { return ends_; }
  std::vector<std::unique_ptr<RelayCircuit>>& relays() { return relays_; }

  // Whether every relay's floor is free and posted upstream, and no relay holds a lease.
  bool at_rest() const {
    for (std::size_t i = 0; i < relays_.size(); ++i) {
      if (relays_[i]->slots_in_use() != 0 || relays_[i]->leases() != 0) return false;
      if (ends_[2 * i + 1]->slots_posted() != 1 || ends_[2 * i + 1]->wide() || ends_[2 * i + 2]->wide()) return false;
    }
    return true;
  }

 private:
  std::vector<std::unique_ptr<sim::MemoryChunkLink>> ends_;
  std::vector<std::unique_ptr<RelayCircuit>> relays_;
};

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_FLOW_MEMORY_CIRCUIT_H_
