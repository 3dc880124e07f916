// Memory that NCCL registered on a comm. TCP needs no key; what a region is for here is to know, when NCCL takes it
// back, whether anything may still touch it.
#ifndef CABLEWAY_NCCL_ADAPTER_MEMORY_REGION_H_
#define CABLEWAY_NCCL_ADAPTER_MEMORY_REGION_H_

#include <cstddef>
#include <cstdint>

namespace cableway::nccl {

class FlowComm;

struct MemoryRegion {
  FlowComm* comm = nullptr;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::size_t in_flight = 0;  // requests that use it; guarded by the comm's mutex

  bool contains(const void* at, std::size_t length) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const auto first = reinterpret_cast<std::uintptr_t>(at);
    return first >= begin && first - begin <= bytes && length <= bytes - (first - begin);
  }
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_MEMORY_REGION_H_
