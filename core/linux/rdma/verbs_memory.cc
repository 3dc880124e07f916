#include "core/linux/rdma/verbs_memory.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

unsigned access_flags(const VerbsDevice& device, VerbsRights rights) {
  unsigned flags = 0;
  if (rights.local_write) flags |= IBV_ACCESS_LOCAL_WRITE;
  // The verbs specification requires local write access with remote write access.
  if (rights.remote_write) flags |= IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  if (rights.remote_read) flags |= IBV_ACCESS_REMOTE_READ;
  // Optional flags need the newer call, which ignores them if the kernel does not support them.
  if (rights.relaxed_ordering && device.library().reg_mr_iova2 != nullptr) flags |= IBV_ACCESS_RELAXED_ORDERING;
  return flags;
}

ibv_mr* register_memory(const VerbsDevice& device, void* data, std::size_t bytes, unsigned flags) {
  const VerbsLibrary& library = device.library();
  if ((flags & IBV_ACCESS_OPTIONAL_RANGE) == 0) {
    return library.reg_mr(device.domain(), data, bytes, static_cast<int>(flags));
  }
  return library.reg_mr_iova2(device.domain(), data, bytes, reinterpret_cast<std::uintptr_t>(data), flags);
}

absl::Status nothing_to_register() {
  return absl::InvalidArgumentError("no bytes to register; expected at least one");
}

}  // namespace

VerbsMemory::VerbsMemory(std::shared_ptr<const VerbsDevice> device, VerbsOwned<ibv_mr> region)
    : device_(std::move(device)), region_(std::move(region)) {}

absl::StatusOr<std::unique_ptr<VerbsMemory>> VerbsMemory::add(std::shared_ptr<const VerbsDevice> device, void* data,
                                                              std::size_t bytes, VerbsRights rights) {
  if (bytes == 0) return nothing_to_register();
  VerbsOwned<ibv_mr> region(register_memory(*device, data, bytes, access_flags(*device, rights)), device->release());
  if (region == nullptr) return device->refused(errno, absl::StrCat("register ", bytes, " bytes of memory"));
  return std::unique_ptr<VerbsMemory>(new VerbsMemory(std::move(device), std::move(region)));
}

absl::StatusOr<std::unique_ptr<VerbsMemory>> VerbsMemory::add_dmabuf(std::shared_ptr<const VerbsDevice> device, int fd,
                                                                     std::uint64_t offset, std::size_t bytes,
                                                                     std::uint64_t address, VerbsRights rights) {
  if (bytes == 0) return nothing_to_register();
  const VerbsLibrary& library = device->library();
  if (library.reg_dmabuf_mr == nullptr) {
    return absl::UnimplementedError("libibverbs.so.1 is too old for dmabuf; rdma-core 34 or later has it");
  }
  const auto flags = static_cast<int>(access_flags(*device, rights));
  VerbsOwned<ibv_mr> region(library.reg_dmabuf_mr(device->domain(), offset, bytes, address, fd, flags),
                            device->release());
  if (region != nullptr) return std::unique_ptr<VerbsMemory>(new VerbsMemory(std::move(device), std::move(region)));
  if (errno == EOPNOTSUPP || errno == EPROTONOSUPPORT) {
    return absl::UnimplementedError(
        absl::StrCat("RDMA device ", device->name(), " or this kernel cannot register memory of other devices"));
  }
  return device->refused(errno, absl::StrCat("register ", bytes, " bytes of another device's memory"));
}

}  // namespace cableway::host
