// Registered memory for the chunks of circuits that pass through this node over RDMA on at least one hop: one slot for
// each circuit, its own for the circuit's lifetime and with its own keys, and a pool of further slots that busy
// circuits lease. All slots have one size, which limits these circuits' chunks.
#ifndef CABLEWAY_CORE_LINUX_RELAY_RDMA_RELAY_MEMORY_H_
#define CABLEWAY_CORE_LINUX_RELAY_RDMA_RELAY_MEMORY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/event/event_sink.h"
#include "core/linux/link/relay_store.h"
#include "core/linux/os/mapped_pages.h"
#include "core/linux/rdma/verbs_memory.h"
#include "core/rdma/registered_slot.h"
#include "core/relay/relay_status.h"
#include "core/relay/slot_pool.h"
#include "core/settings/settings.h"

namespace cableway::host {

class RdmaRelayMemory final : public RelayStore {
 public:
  static constexpr std::uint32_t kSlotBytes = 64U << 10;
  // The maximum number of leases of one circuit, in addition to its own slot. They allow a megabyte in flight.
  static constexpr std::size_t kLeasesPerCircuit = 15;
  // Size of the pool for the largest relay memory: 32 MiB.
  static constexpr std::size_t kMaxLeases = 512;
  // Limit of RDMA devices that one node uses.
  static constexpr std::size_t kMaxDevices = 16;

  // Reserves address space for a 64th of `relay_memory`, at most kMaxLeases slots. Registration makes it locked memory.
  static absl::StatusOr<std::unique_ptr<RdmaRelayMemory>> reserve(std::uint64_t relay_memory);

  SlotKind kind() const override { return SlotKind::kRegistered; }
  // At least one of the two ends must have a device here.
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const HostEnd& upstream, const HostEnd& downstream) override;

  SlotPool& pool() override { return *pool_; }

  void release_lost() override;
  void add_status(RelayStatus& relay) const override { relay.rdma_memory = status(); }
  LeaseShortage lease_shortage(const std::string& relay_memory) const override;

  // Callable from any thread.
  RdmaMemoryStatus status() const;

 private:
  using KeysByDevice = std::array<RdmaKeys, kMaxDevices>;

  RdmaRelayMemory() = default;
  // One device's registrations of the pool's slots. On a device that only sends, they are not remotely writable.
  struct Leases {
    std::shared_ptr<VerbsDevice> device;
    std::unique_ptr<VerbsMemory> read;     // readable by the device, for sending downstream
    std::unique_ptr<VerbsMemory> written;  // writable by the upstream neighbour; readable, too

    bool any() const { return read != nullptr || written != nullptr; }
  };

  absl::Status allow_lease_reads(const SlotDevice& downstream);
  absl::Status allow_lease_writes(const SlotDevice& upstream);
  absl::StatusOr<std::unique_ptr<VerbsMemory>> register_leases(const SlotDevice& on, VerbsRights rights);

  MappedPages lease_pages_;
  // By device number.
  std::array<Leases, kMaxDevices> leases_;
  KeysByDevice lease_keys_{};
  std::atomic<bool> leases_registered_ = false;  // with at least one device
  std::shared_ptr<std::atomic<std::size_t>> floors_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::unique_ptr<SlotPool> pool_;
};

// A MakeRelayStore.
absl::StatusOr<std::unique_ptr<RelayStore>> make_rdma_relay_memory(const Settings& settings, EventSink& events);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RELAY_RDMA_RELAY_MEMORY_H_
