// A relay slot for RDMA: memory registered with the devices on both sides, so that one neighbour writes a chunk into it
// and this node writes it onward from there, without a copy. Store and forward: a chunk is reported when it is
// complete.
#ifndef CABLEWAY_CORE_RDMA_REGISTERED_SLOT_H_
#define CABLEWAY_CORE_RDMA_REGISTERED_SLOT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/flow/chunk_link.h"
#include "core/rdma/rdma_queue_pair.h"

namespace cableway {

class RegisteredSlot : public Slot {
 public:
  // `memory` and `keys` (by the index of the device on this node) must outlive this.
  RegisteredSlot(std::span<std::byte> memory, std::span<const RdmaKeys> keys) : memory_(memory), keys_(keys) {}

  std::byte* data() const { return memory_.data(); }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(memory_.size()); }
  std::uint32_t max_chunk_bytes() const override { return capacity(); }
  // Whether the slot is registered with a device. False: memory of a relay between hops over TCP, as in the
  // simulator.
  bool registered() const { return !keys_.empty(); }
  const RdmaKeys& keys(std::size_t device) const { return keys_[device]; }

 private:
  const std::span<std::byte> memory_;
  const std::span<const RdmaKeys> keys_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_RDMA_REGISTERED_SLOT_H_
