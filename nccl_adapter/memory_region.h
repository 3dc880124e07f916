// Memory that NCCL registered on a comm. With it goes what the device knows of it, where the comm's connection has one;
// TCP needs no key, and then a region is there to know, when NCCL takes it back, whether anything may still touch it.
#ifndef CABLEWAY_NCCL_ADAPTER_MEMORY_REGION_H_
#define CABLEWAY_NCCL_ADAPTER_MEMORY_REGION_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/linux/verbs_memory.h"

namespace cableway::nccl {

class FlowComm;

struct MemoryRegion {
  FlowComm* comm = nullptr;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
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
