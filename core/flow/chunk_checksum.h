// The checksum of a chunk's payload, a CRC32C, which its frame carries (frame.h). TCP's own 16-bit sum misses, for
// instance, two words that have changed places.
//
// A payload's checksum is computed where a chunk goes from memory onto a TCP hop, passes relays unchanged, and is
// checked where the chunk leaves TCP for memory. docs/decisions/0018 says which end does that on which path, and why
// RDMA hops need none.
#ifndef CABLEWAY_CORE_FLOW_CHUNK_CHECKSUM_H_
#define CABLEWAY_CORE_FLOW_CHUNK_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/flow/frame.h"

namespace cableway {

// Computes the checksum of a payload from its successive parts.
class ChunkChecksum {
 public:
  void add(std::span<const std::byte> part);
  // The value that a frame carries. Never 0, which means that there is no checksum: a CRC of 0 becomes 0xFFFFFFFF.
  std::uint32_t value() const;

 private:
  std::uint32_t crc_ = 0;
};

// Returns the frame with the checksum of its payload, or unchanged if it has one already or its payload is empty.
Frame with_checksum(const Frame& chunk, const std::byte* payload);

// DataLoss: the frame has a checksum, and the payload does not match it. `found`: the checksum of the payload as
// received.
absl::Status check_checksum(const Frame& chunk, const ChunkChecksum& found);
absl::Status check_checksum(const Frame& chunk, const std::byte* payload);

// Whether the status reports that a link found damaged bytes, in a payload or in a frame's header (decode_frame()).
bool found_corruption(const absl::Status& status);

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CHUNK_CHECKSUM_H_
