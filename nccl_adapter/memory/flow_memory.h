// The memory that NCCL has registered on one flow, with the device of each of its circuits' hops that has one; and, for
// GPU memory that is received into, the means to flush it.
#ifndef CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_
#define CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/link/hop_link.h"
#include "core/linux/link/memory_flush.h"
#include "core/linux/link/memory_registrar.h"
#include "nccl_adapter/memory/memory_region.h"

namespace cableway::nccl {

// One thread at a time: its comm's mutex must be held.
class FlowMemory {
 public:
  // `hops`, by circuit, must outlive this. `comm`: the owner of the regions.
  FlowMemory(std::vector<const host::HopLink*> hops, FlowComm* comm) : hops_(std::move(hops)), comm_(comm) {}

  // `lands`: the hops' other ends write to it; else it is sent from, and must not be remotely writable.
  // FailedPrecondition: GPU memory, and a hop goes over TCP. ResourceExhausted names the limit to raise.
  absl::StatusOr<MemoryRegion*> add(const NamedMemory& memory, bool lands);
  bool holds(const MemoryRegion* region) const;
  // After it returns nothing accesses the memory, unless another flow has registered it as well.
  void remove(const MemoryRegion* region);

  // For regions of GPU memory that land. Does not allocate. Returns the flush's number, counting from 0; flushed()
  // returns whether what had landed before is visible to the GPU. Errors are the device's.
  absl::StatusOr<std::uint64_t> flush(const MemoryRegion& region, const void* at);
  std::uint64_t next_flush() const { return flush_ == nullptr ? 0 : flush_->next(); }
  absl::StatusOr<bool> flushed(std::uint64_t number);
  // Afterwards nothing is read for a flush.
  void end_flushes() { flush_.reset(); }

 private:
  absl::StatusOr<std::shared_ptr<const host::RegisteredMemory>> register_memory(const host::MemoryRegistrar& registrar,
                                                                                const NamedMemory& memory, bool lands);

  const std::vector<const host::HopLink*> hops_;
  FlowComm* const comm_;
  std::vector<std::unique_ptr<MemoryRegion>> regions_;
  std::unique_ptr<host::MemoryFlush> flush_;  // made when GPU memory is first received into
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_
