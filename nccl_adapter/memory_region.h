// Memory that NCCL names in regMr, and what a comm keeps of it. With that goes what the device knows of it, where the
// comm's connection has one; TCP needs no key, and then a region is there to know, when NCCL takes it back, whether
// anything may still touch it.
#ifndef CABLEWAY_NCCL_ADAPTER_MEMORY_REGION_H_
#define CABLEWAY_NCCL_ADAPTER_MEMORY_REGION_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/linux/verbs_memory.h"

namespace cableway::nccl {

class FlowComm;

struct NamedMemory {
  enum class Kind : std::uint8_t {
    kHost,
    kPeer,    // of a GPU, by its address: the kernel has to know whose it is
    kDmabuf,  // of a GPU, by a descriptor
  };
  Kind kind = Kind::kHost;
  void* data = nullptr;
  std::size_t bytes = 0;
  int fd = -1;               // kDmabuf; needed no longer once it is registered
  std::uint64_t offset = 0;  // kDmabuf: of `data` in there

  bool is_gpus() const { return kind != Kind::kHost; }
};

struct MemoryRegion {
  FlowComm* comm = nullptr;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool is_gpus = false;
  std::size_t in_flight = 0;                                // requests that use it; guarded by the comm's mutex
  std::shared_ptr<const linux_::VerbsMemory> registration;  // null: TCP

  bool contains(const void* at, std::size_t length) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const auto first = reinterpret_cast<std::uintptr_t>(at);
    return first >= begin && first - begin <= bytes && length <= bytes - (first - begin);
  }
};

// 0 for TCP, and for a message of no bytes, which needs no memory.
inline std::uint32_t local_key(const MemoryRegion* region) {
  return region == nullptr || region->registration == nullptr ? 0 : region->registration->keys().local;
}
inline std::uint32_t remote_key(const MemoryRegion* region) {
  return region == nullptr || region->registration == nullptr ? 0 : region->registration->keys().remote;
}

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_MEMORY_REGION_H_
