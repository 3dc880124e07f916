// The memory that NCCL has registered on one flow, registered with the device of each of the flow's circuits that has
// one; and, for GPU memory that is received into, the means to flush it.
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

  // Attaches the hop of the circuit in this slot, until detach() or the next attach() for the slot. Registers all
  // memory with the hop's device; after an error nothing is attached. The hop must live until then.
  absl::Status attach(std::size_t slot, const host::HopLink& hop);
  // The slot's circuit has ended. New memory is not registered with its device, which still flushes messages of which
  // parts may have landed over that circuit.
  void circuit_ended(std::size_t slot);
  // Ends the registrations of the slot's circuit, which must be fenced. Before that, data that its device has written
  // into GPU memory is flushed, which takes microseconds. If the device fails, or does not finish within 20 ms,
  // flush() fails for each message of which parts may have landed over that circuit.
  void detach(std::size_t slot);

  // `lands`: the hops' other ends write to the memory. Otherwise data is sent from it, and it must not be remotely
  // writable. FailedPrecondition: GPU memory, and a hop goes over TCP. ResourceExhausted names the limit to raise.
  absl::StatusOr<MemoryRegion*> add(const NamedMemory& memory, bool lands);
  bool holds(const MemoryRegion* region) const;
  // After it returns nothing accesses the memory, unless another flow has also registered it.
  void remove(const MemoryRegion* region);
  // The same for all regions.
  void clear() { regions_.clear(); }

  // For regions of GPU memory that land. Does not allocate. Returns the flush's number, counting from 0. flushed()
  // returns whether data that had landed before the flush, over any circuit, is visible to the GPU. Errors come from
  // the devices. At most kMaxReads may be in flight.
  absl::StatusOr<std::uint64_t> flush(const MemoryRegion& region, const void* at);
  std::uint64_t next_flush() const { return next_flush_; }
  absl::StatusOr<bool> flushed(std::uint64_t number);
  // Afterwards no memory is read for a flush.
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
  // By slot, the number that the device gave to the read. kNoRead: the device does not flush.
  using Reads = std::array<std::uint64_t, kMaxFlowCircuits>;
  static constexpr std::uint64_t kNoRead = ~std::uint64_t{0};
  // Another circuit has taken the slot before the device had completed the read.
  static constexpr std::uint64_t kLostRead = kNoRead - 1;

  absl::Status register_with(std::size_t slot, MemoryRegion& region);
  void flush_last(std::size_t slot);

  FlowComm* const comm_;
  std::array<Hop, kMaxFlowCircuits> hops_;
  std::vector<std::unique_ptr<MemoryRegion>> regions_;
  std::uint64_t next_flush_ = 0;
  bool flushes_ended_ = false;
  std::size_t lost_flushes_ = 0;  // number of the next flushes that fail
  absl::Status lost_flush_;
  std::array<Reads, host::MemoryFlush::kMaxReads> reads_{};  // by flush, modulo
};

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_MEMORY_FLOW_MEMORY_H_
