// The memory that NCCL has registered on one flow, with the device of each of its circuits' hops that has one; and, for
// GPU memory that is received into, the means to flush it.
#ifndef CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_
#define CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/flow/circuit_name.h"
#include "core/linux/link/hop_link.h"
#include "core/linux/link/memory_flush.h"
#include "core/linux/link/memory_registrar.h"
#include "nccl_adapter/memory/memory_region.h"

namespace cableway::nccl {

// One thread at a time: its comm's mutex must be held.
class FlowMemory {
 public:
  // `comm`: the owner of the regions.
  explicit FlowMemory(FlowComm* comm) : comm_(comm) {}

  // The hop of the circuit in this slot, until detach() or the next attach() there. Registers all memory with its
  // device; after an error nothing is attached there. The hop must outlive that.
  absl::Status attach(std::size_t slot, const host::HopLink& hop);
  // The slot's circuit has ended. New memory is not registered with its device, which still flushes for the messages
  // that may have landed over it in part.
  void circuit_ended(std::size_t slot);
  // Ends the registrations of the slot's circuit, which must be fenced. What its device has written into GPU memory is
  // flushed before, which takes microseconds; if the device fails, or does not do so within 20 ms, flush() fails for
  // each message that may have landed over it in part.
  void detach(std::size_t slot);

  // `lands`: the hops' other ends write to it; else it is sent from, and must not be remotely writable.
  // FailedPrecondition: GPU memory, and a hop goes over TCP. ResourceExhausted names the limit to raise.
  absl::StatusOr<MemoryRegion*> add(const NamedMemory& memory, bool lands);
  bool holds(const MemoryRegion* region) const;
  // After it returns nothing accesses the memory, unless another flow has registered it as well.
  void remove(const MemoryRegion* region);
  // The same for all of it.
  void clear() { regions_.clear(); }

  // For regions of GPU memory that land. Does not allocate. Returns the flush's number, counting from 0; flushed()
  // returns whether what had landed before, over any circuit, is visible to the GPU. Errors are the devices'. At most
  // kMaxReads may be in flight.
  absl::StatusOr<std::uint64_t> flush(const MemoryRegion& region, const void* at);
  std::uint64_t next_flush() const { return next_flush_; }
  absl::StatusOr<bool> flushed(std::uint64_t number);
  // Afterwards nothing is read for a flush.
  void end_flushes();
  // FailedPrecondition after end_flushes().
  absl::Status can_flush() const;

 private:
  struct Hop {
    const host::HopLink* link = nullptr;       // null: none is attached
    std::unique_ptr<host::MemoryFlush> flush;  // made when GPU memory is first received into
    bool ended = false;
    std::size_t flushes_left = 0;  // of an ended circuit
  };
  // By slot, the number that its device gave to the read; kNoRead: it does not flush.
  using Reads = std::array<std::uint64_t, kMaxFlowCircuits>;
  static constexpr std::uint64_t kNoRead = ~std::uint64_t{0};
  // Another circuit has taken the slot, and the device had not read.
  static constexpr std::uint64_t kLostRead = kNoRead - 1;

  absl::Status register_with(std::size_t slot, MemoryRegion& region);
  void flush_last(std::size_t slot);

  FlowComm* const comm_;
  std::array<Hop, kMaxFlowCircuits> hops_;
  std::vector<std::unique_ptr<MemoryRegion>> regions_;
  std::uint64_t next_flush_ = 0;
  bool flushes_ended_ = false;
  std::size_t lost_flushes_ = 0;  // how many of the next fail
  absl::Status lost_flush_;
  std::array<Reads, host::MemoryFlush::kMaxReads> reads_{};  // by flush, modulo
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_
