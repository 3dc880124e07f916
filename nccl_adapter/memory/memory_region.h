// Memory that NCCL names in regMr, and what a comm keeps of it. With that goes what the device knows of it, where the
// comm's connection has one; TCP needs no key, and then a region is there to know, when NCCL takes it back, whether
// anything may still touch it.
#ifndef CABLEWAY_NCCL_ADAPTER_MEMORY_MEMORY_REGION_H_
#define CABLEWAY_NCCL_ADAPTER_MEMORY_MEMORY_REGION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/flow/flow_circuit.h"
#include "core/linux/rdma/verbs_memory.h"

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
  std::size_t in_flight = 0;  // requests that use it; guarded by the comm's mutex
  // By circuit of the flow, with the device of its hop; null: it needs none (TCP).
  std::array<std::shared_ptr<const host::VerbsMemory>, kMaxFlowCircuits> registrations;
  CircuitKeys local_keys{};
  CircuitKeys remote_keys{};

  bool contains(const void* at, std::size_t length) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const auto first = reinterpret_cast<std::uintptr_t>(at);
    return first >= begin && first - begin <= bytes && length <= bytes - (first - begin);
  }
};

// A message of no bytes needs no memory, and no keys.
inline CircuitKeys local_keys(const MemoryRegion* region) {
  return region == nullptr ? CircuitKeys{} : region->local_keys;
}
inline CircuitKeys remote_keys(const MemoryRegion* region) {
  return region == nullptr ? CircuitKeys{} : region->remote_keys;
}

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_MEMORY_MEMORY_REGION_H_
