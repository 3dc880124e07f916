// Registered memory for the chunks of circuits that pass through this node over RDMA, on one hop or both: a slot for
// each circuit, its own for life and with keys of its own, and a pool of further ones that busy circuits lease. All are
// of one size, so chunks of these circuits have at most that.
#ifndef CABLEWAY_CORE_LINUX_RELAY_RDMA_RELAY_MEMORY_H_
#define CABLEWAY_CORE_LINUX_RELAY_RDMA_RELAY_MEMORY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/link/relay_store.h"
#include "core/linux/os/mapped_pages.h"
#include "core/linux/rdma/verbs_memory.h"
#include "core/rdma/registered_slot.h"
#include "core/relay/relay_status.h"
#include "core/relay/slot_pool.h"

namespace cableway::host {

class RdmaRelayMemory final : public RelayStore {
 public:
  static constexpr std::uint32_t kSlotBytes = 64U << 10;
  // Beside its own. With them a circuit has a megabyte on its way.
  static constexpr std::size_t kLeasesPerCircuit = 15;
  // The pool's, however large the relay memory is: 32 MiB.
  static constexpr std::size_t kMaxLeases = 512;
  // RDMA devices that one node may use.
  static constexpr std::size_t kMaxDevices = 16;

  // Address space for a 64th of `relay_memory`, kMaxLeases at most. It is memory, and locked, once it is registered.
  static absl::StatusOr<std::unique_ptr<RdmaRelayMemory>> reserve(std::uint64_t relay_memory);

  SlotKind kind() const override { return SlotKind::kRegistered; }
  // Of the two ends one or both have a device here.
  absl::StatusOr<std::unique_ptr<Slot>> make_floor(const HostEnd& upstream, const HostEnd& downstream) override;

  // Deregisters what devices that have failed were given, so that they can be closed. The same thread.
  void release_lost();

  SlotPool& pool() override { return *pool_; }

  // Any thread.
  RdmaMemoryStatus status() const;

 private:
  using KeysByDevice = std::array<RdmaKeys, kMaxDevices>;

  RdmaRelayMemory() = default;
  // The pool's slots, as one device knows them. What only goes out over it may be written by nobody.
  struct Leases {
    std::shared_ptr<VerbsDevice> device;
    std::unique_ptr<VerbsMemory> read;     // by the device, for what goes downstream
    std::unique_ptr<VerbsMemory> written;  // by what comes from upstream; good for reading, too

    bool any() const { return read != nullptr || written != nullptr; }
  };

  absl::Status let_leases_be_read(const SlotDevice& downstream);
  absl::Status let_leases_be_written(const SlotDevice& upstream);
  absl::StatusOr<std::unique_ptr<VerbsMemory>> register_leases(const SlotDevice& on, VerbsRights rights);

  MappedPages lease_pages_;
  // By number of the device.
  std::array<Leases, kMaxDevices> leases_;
  KeysByDevice lease_keys_{};
  std::atomic<bool> leases_registered_ = false;  // with one device at least
  std::shared_ptr<std::atomic<std::size_t>> floors_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::unique_ptr<SlotPool> pool_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RELAY_RDMA_RELAY_MEMORY_H_
