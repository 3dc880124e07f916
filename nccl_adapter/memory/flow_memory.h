// The memory that NCCL has registered on one flow, with the device of each of its circuits' hops that has one; and,
// where it is of a GPU and received into, the means of making sure that it has arrived there.
#ifndef CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_
#define CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/link/hop_link.h"
#include "nccl_adapter/memory/memory_region.h"

namespace cableway::nccl {

// One thread at a time: its comm's mutex is held.
class FlowMemory {
 public:
  // `hops`, by circuit, outlive this. `comm`: to whom the regions belong.
  FlowMemory(std::vector<const host::HopLink*> hops, FlowComm* comm) : hops_(std::move(hops)), comm_(comm) {}

  // `lands`: the hops' other ends write into it; else it is sent from, and nobody may write into it.
  // FailedPrecondition: a GPU's memory, and a hop is TCP. ResourceExhausted says what to raise.
  absl::StatusOr<MemoryRegion*> add(const NamedMemory& memory, bool lands);
  bool holds(const MemoryRegion* region) const;
  // Nothing touches the memory any more when it returns, unless another flow has registered it as well.
  void remove(const MemoryRegion* region);

  // For regions of GPUs that land. Allocates nothing. The flush's number: they count from 0; flushed() says whether
  // what had landed before is there for the GPU to see. Errors are the device's.
  absl::StatusOr<std::uint64_t> flush(const MemoryRegion& region, const void* at);
  std::uint64_t next_flush() const { return flush_ == nullptr ? 0 : flush_->next(); }
  absl::StatusOr<bool> flushed(std::uint64_t number);
  // Nothing is read for it any more.
  void end_flushes() { flush_.reset(); }

 private:
  absl::StatusOr<std::shared_ptr<const host::VerbsMemory>> register_memory(const host::HopLink& hop,
                                                                           const NamedMemory& memory, bool lands);

  const std::vector<const host::HopLink*> hops_;
  FlowComm* const comm_;
  std::vector<std::unique_ptr<MemoryRegion>> regions_;
  std::unique_ptr<host::MemoryFlush> flush_;  // once a GPU's memory is received into
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_
