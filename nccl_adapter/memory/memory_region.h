// Memory that NCCL passes to regMr, and a comm's record of it. The record owns the registration with the device of
// each of the comm's connections that has one. TCP needs no key; the record then only tracks whether a request still
// uses the memory, until NCCL deregisters it.
#ifndef CABLEWAY_NCCL_ADAPTER_MEMORY_MEMORY_REGION_H_
#define CABLEWAY_NCCL_ADAPTER_MEMORY_MEMORY_REGION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/flow/flow_circuit.h"
#include "core/linux/link/memory_registrar.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::nccl {

class FlowComm;

struct NamedMemory {
  enum class Kind : std::uint8_t {
    kHost,
    kPeer,    // of a GPU, by its address, which the kernel must resolve
    kDmabuf,  // of a GPU, by a dmabuf descriptor
  };
  Kind kind = Kind::kHost;
  void* data = nullptr;
  std::size_t bytes = 0;
  int fd = -1;               // kDmabuf; the caller may close it after the registration
  std::uint64_t offset = 0;  // kDmabuf: offset of `data` in it

  bool is_gpus() const { return kind != Kind::kHost; }
};

struct MemoryRegion {
  FlowComm* comm = nullptr;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool is_gpus = false;
  bool lands = false;         // the other end writes to it
  NamedMemory named;          // for registrations with the devices of circuits that join later
  host::UniqueFd dmabuf;      // a copy, to which `named` refers
  std::size_t in_flight = 0;  // requests that use the region; guarded by the comm's mutex
  // By slot of the flow's circuit, with the device of its hop. Null if the hop needs none (TCP).
  std::array<std::shared_ptr<const host::RegisteredMemory>, kMaxFlowCircuits> registrations;
  CircuitKeys local_keys{};
  CircuitKeys remote_keys{};

  bool contains(const void* at, std::size_t length) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const auto first = reinterpret_cast<std::uintptr_t>(at);
    return first >= begin && first - begin <= bytes && length <= bytes - (first - begin);
  }
};

// An empty message needs no memory, and no keys.
inline const CircuitKeys* local_keys(const MemoryRegion* region) {
  return region == nullptr ? nullptr : &region->local_keys;
}
inline const CircuitKeys* remote_keys(const MemoryRegion* region) {
  return region == nullptr ? nullptr : &region->remote_keys;
}

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_MEMORY_MEMORY_REGION_H_
