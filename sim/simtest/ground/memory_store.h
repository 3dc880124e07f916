// Slots in plain memory, which serve circuits between connections.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_MEMORY_STORE_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_MEMORY_STORE_H_

#include <memory>

#include "sim/cable/relay_host.h"
#include "sim/simtest/ground/slot_store.h"

namespace cableway::sim {

class MemoryStore final : public SlotStore {
 public:
  // The host has the slots; it outlives this.
  explicit MemoryStore(RelayHost& host) : host_(host) {}

  SlotKind kind() const override { return SlotKind::kUnregistered; }
  const char* leases_name() const override { return "leased slots"; }
  std::unique_ptr<Slot> make_floor(const SimEnd& /*upstream*/, const SimEnd& /*downstream*/) override {
    return host_.make_floor();
  }
  SlotPool& pool() override { return host_.pool(); }

 private:
  RelayHost& host_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_MEMORY_STORE_H_
