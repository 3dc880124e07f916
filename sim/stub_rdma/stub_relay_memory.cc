#include "sim/stub_rdma/stub_relay_memory.h"

#include <span>
#include <utility>

namespace cableway::sim {
namespace {

// The memory of one circuit's floor.
struct FloorMemory {
  std::unique_ptr<std::byte[]> bytes;
  std::vector<RdmaKeys> keys;  // by device number
  std::vector<StubMemory> registered;
};

class StubFloor final : public RegisteredSlot {
 public:
  StubFloor(std::unique_ptr<FloorMemory> memory, std::size_t bytes)
      : RegisteredSlot(std::span(memory->bytes.get(), bytes), memory->keys), memory_(std::move(memory)) {}

 private:
  const std::unique_ptr<FloorMemory> memory_;
};

}  // namespace

StubRelayMemory::StubRelayMemory(std::vector<StubDevice*> devices, const Facts& facts)
    : devices_(std::move(devices)),
      facts_(facts),
      // Left uninitialised, so that nodes that relay nothing do not touch it.
      lease_memory_(std::make_unique_for_overwrite<std::byte[]>(facts.leases * facts.slot_bytes)),
      pool_(make_leases(), facts.leases_per_circuit) {}

std::vector<std::unique_ptr<Slot>> StubRelayMemory::make_leases() {
  const std::span<std::byte> memory(lease_memory_.get(), facts_.leases * facts_.slot_bytes);
  for (StubDevice* device : devices_) {
    registered_.push_back(device->register_writable(memory));
    lease_keys_.push_back(registered_.back().keys());
  }
  std::vector<std::unique_ptr<Slot>> slots;
  slots.reserve(facts_.leases);
  for (std::size_t i = 0; i < facts_.leases; ++i) {
    slots.push_back(
        std::make_unique<RegisteredSlot>(memory.subspan(i * facts_.slot_bytes, facts_.slot_bytes), lease_keys_));
  }
  return slots;
}

std::unique_ptr<Slot> StubRelayMemory::make_floor(std::optional<std::size_t> upstream,
                                                  std::optional<std::size_t> downstream) {
  auto memory = std::make_unique<FloorMemory>();
  memory->bytes = std::make_unique_for_overwrite<std::byte[]>(facts_.slot_bytes);
  memory->keys.resize(devices_.size());
  const std::span<std::byte> bytes(memory->bytes.get(), facts_.slot_bytes);
  if (upstream.has_value()) {
    memory->registered.push_back(devices_[*upstream]->register_writable(bytes));
    memory->keys[*upstream] = memory->registered.back().keys();
  }
  // If both hops use one device, the first registration serves both.
  if (downstream.has_value() && downstream != upstream) {
    memory->registered.push_back(devices_[*downstream]->register_memory(bytes));
    memory->keys[*downstream] = memory->registered.back().keys();
  }
  return std::make_unique<StubFloor>(std::move(memory), facts_.slot_bytes);
}

}  // namespace cableway::sim
