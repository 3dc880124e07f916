// Memory that an RDMA device may read and, if requested, its neighbours may write.
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_MEMORY_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_MEMORY_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/linux/link/memory_registrar.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/rdma/rdma_queue_pair.h"

namespace cableway::host {

// Permissions of a registration; the device rejects all other access.
struct VerbsRights {
  // Peers with the remote key and a queue pair to this process on this device may write: for landings, slots,
  // mailboxes. Without it and local_write the device only reads, and the memory may itself be read-only.
  bool remote_write = false;
  // The device may reorder writes to memory, up to the following notice. Faster on some hosts, but wrong if the bytes
  // are read before the notice. Ignored if the device or the library does not support it.
  bool relaxed_ordering = false;
  // Such peers may also read, if their queue pair permits it: queue pairs to neighbours never do (verbs_flush.h has one
  // that does).
  bool remote_read = false;
  // The device may write the results of this side's own reads.
  bool local_write = false;

  friend bool operator==(const VerbsRights&, const VerbsRights&) = default;
  friend auto operator<=>(const VerbsRights&, const VerbsRights&) = default;
};

class VerbsMemory final : public RegisteredMemory {
 public:
  // Exactly the bytes of `data`; at least one. The pages are locked. ResourceExhausted names the limit to raise.
  static absl::StatusOr<std::unique_ptr<VerbsMemory>> add(std::shared_ptr<const VerbsDevice> device, void* data,
                                                          std::size_t bytes, VerbsRights rights);
  // Another device's memory, by its dmabuf `fd`, which may be closed afterwards; `bytes` from `offset` on are written
  // and read as though they were at `address`; at least one. Unimplemented if VerbsDevice::supports_dmabuf() is false.
  static absl::StatusOr<std::unique_ptr<VerbsMemory>> add_dmabuf(std::shared_ptr<const VerbsDevice> device, int fd,
                                                                 std::uint64_t offset, std::size_t bytes,
                                                                 std::uint64_t address, VerbsRights rights);

  RdmaKeys keys() const { return RdmaKeys{region_->lkey, region_->rkey}; }
  std::uint32_t local_key() const override { return region_->lkey; }
  std::uint32_t remote_key() const override { return region_->rkey; }

 private:
  VerbsMemory(std::shared_ptr<const VerbsDevice> device, VerbsOwned<ibv_mr> region);

  const std::shared_ptr<const VerbsDevice> device_;
  const VerbsOwned<ibv_mr> region_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_MEMORY_H_
