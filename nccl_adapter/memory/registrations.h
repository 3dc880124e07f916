// This process's registrations of NCCL's memory with its devices. NCCL registers the same buffers on many comms;
// one registration serves all of those that request the same memory with the same access on one device.
//
// Nothing is cached beyond that: a registration lasts only while a comm's region holds it. So if an allocator frees
// an address and maps it again, no old registration is found (NCCL deregisters memory before it frees it).
#ifndef CABLEWAY_NCCL_ADAPTER_MEMORY_REGISTRATIONS_H_
#define CABLEWAY_NCCL_ADAPTER_MEMORY_REGISTRATIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "absl/status/statusor.h"
#include "core/linux/link/memory_registrar.h"
#include "nccl_adapter/memory/memory_region.h"

namespace cableway::nccl {

// Callable from any thread, during set-up only.
class Registrations {
 public:
  absl::StatusOr<std::shared_ptr<const host::RegisteredMemory>> add(const host::MemoryRegistrar& registrar,
                                                                    const NamedMemory& memory,
                                                                    host::MemoryAccess access);

 private:
  // Everything that distinguishes registrations, except a dmabuf's descriptor: NCCL makes a new one each time.
  using Key = std::tuple<const void*, NamedMemory::Kind, void*, std::size_t, std::uint64_t, host::MemoryAccess>;

  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const host::RegisteredMemory>> known_;
};

// The process-wide instance.
Registrations& shared_registrations();

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_MEMORY_REGISTRATIONS_H_
