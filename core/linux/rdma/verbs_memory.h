// Memory that an RDMA device may read, and if so wished its neighbours may write.
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_MEMORY_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_MEMORY_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/rdma/rdma_queue_pair.h"

namespace cableway::host {

// What may be done with it; what is not asked for is refused by the device.
struct VerbsRights {
  // Whoever has the remote key and a queue pair with this process on this device may write: landings, slots, mailboxes.
  // Without it and local_write the device only reads, and the memory may itself be read-only.
  bool remote_write = false;
  // The device may let writes overtake each other on their way to memory, up to the notice behind them. Faster on some
  // hosts, and wrong for who looks at the bytes before the notice. Ignored where device or library know nothing of it.
  bool relaxed_ordering = false;
  // The same may read, over a queue pair that lets them: those to neighbours let nobody (verbs_flush.h has one that
  // does).
  bool remote_read = false;
  // The device may write what this side itself has it fetch.
  bool local_write = false;

  friend bool operator==(const VerbsRights&, const VerbsRights&) = default;
  friend auto operator<=>(const VerbsRights&, const VerbsRights&) = default;
};

// Registered as long as this lives, which may be shorter than the memory and never longer. Any thread.
class VerbsMemory {
 public:
  // `data` and not a byte more or less; at least one. The pages are locked. ResourceExhausted says what to raise.
  static absl::StatusOr<std::unique_ptr<VerbsMemory>> add(std::shared_ptr<const VerbsDevice> device, void* data,
                                                          std::size_t bytes, VerbsRights rights);
  // Another device's memory, by its dmabuf `fd`, which may be closed afterwards; `bytes` from `offset` on are written
  // and read as though they lay at `address`; at least one. Unimplemented where VerbsDevice::supports_dmabuf() is
  // false.
  static absl::StatusOr<std::unique_ptr<VerbsMemory>> add_dmabuf(std::shared_ptr<const VerbsDevice> device, int fd,
                                                                 std::uint64_t offset, std::size_t bytes,
                                                                 std::uint64_t address, VerbsRights rights);

  RdmaKeys keys() const { return RdmaKeys{region_->lkey, region_->rkey}; }

 private:
  VerbsMemory(std::shared_ptr<const VerbsDevice> device, VerbsOwned<ibv_mr> region);

  const std::shared_ptr<const VerbsDevice> device_;
  const VerbsOwned<ibv_mr> region_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_MEMORY_H_
