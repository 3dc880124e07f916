// The memory that NCCL has registered on one flow, with the device of the flow's hop where that has one; and, where it
// is of a GPU and received into, the means of making sure that it has arrived there.
#ifndef CABLEWAY_NCCL_ADAPTER_FLOW_MEMORY_H_
#define CABLEWAY_NCCL_ADAPTER_FLOW_MEMORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/hop_link.h"
#include "core/linux/verbs_flush.h"
#include "nccl_adapter/memory_region.h"

namespace cableway::nccl {

// One thread at a time: its comm's mutex is held.
class FlowMemory {
 public:
  // `hop` outlives this. `comm`: to whom the regions belong.
  FlowMemory(const linux_::HopLink& hop, FlowComm* comm) : hop_(hop), comm_(comm) {}

  // `lands`: the hop's other end writes into it; else it is sent from, and nobody may write into it.
  // FailedPrecondition: a GPU's memory, and the hop is TCP. ResourceExhausted says what to raise.
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
  absl::StatusOr<std::shared_ptr<const linux_::VerbsMemory>> register_memory(const NamedMemory& memory, bool lands);
  absl::Status make_flush();

  const linux_::HopLink& hop_;
  FlowComm* const comm_;
  std::vector<std::unique_ptr<MemoryRegion>> regions_;
  std::unique_ptr<linux_::VerbsFlush> flush_;  // once a GPU's memory is received into
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_FLOW_MEMORY_H_
