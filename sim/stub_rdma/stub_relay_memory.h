// A node's registered relay memory on stub devices, like core/linux/relay/rdma_relay_memory.h on real ones. Each
// circuit has a floor for its whole lifetime, with its own keys; a pool of leases is registered with all devices of the
// node.
#ifndef CABLEWAY_SIM_STUB_RDMA_STUB_RELAY_MEMORY_H_
#define CABLEWAY_SIM_STUB_RDMA_STUB_RELAY_MEMORY_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/rdma/registered_slot.h"
#include "core/relay/slot_pool.h"
#include "sim/stub_rdma/stub_device.h"

namespace cableway::sim {

class StubRelayMemory {
 public:
  struct Facts {
    std::size_t slot_bytes = 65536;
    std::size_t leases = 16;
    std::size_t leases_per_circuit = 15;
  };

  // The node's devices, indexed by number; they outlive this.
  StubRelayMemory(std::vector<StubDevice*> devices, const Facts& facts);

  // For a circuit between hops over the devices with these numbers; nullopt: another transport. At most one is nullopt.
  std::unique_ptr<Slot> make_floor(std::optional<std::size_t> upstream, std::optional<std::size_t> downstream);
  SlotPool& pool() { return pool_; }
  const SlotPool& pool() const { return pool_; }

 private:
  std::vector<std::unique_ptr<Slot>> make_leases();

  const std::vector<StubDevice*> devices_;
  const Facts facts_;
  const std::unique_ptr<std::byte[]> lease_memory_;
  std::vector<StubMemory> registered_;
  std::vector<RdmaKeys> lease_keys_;
  SlotPool pool_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_STUB_RDMA_STUB_RELAY_MEMORY_H_
