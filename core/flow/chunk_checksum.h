// The checksum of a chunk's payload, a CRC32C, which its frame carries (frame.h). TCP's own 16-bit sum misses, for
// instance, two words that have changed places.
//
// It is made where a chunk goes from memory onto a TCP hop, passes relays unchanged, and is checked where the chunk
// leaves TCP for memory. docs/decisions/0018 says who does that on which path, and why RDMA hops need none.
#ifndef CABLEWAY_CORE_FLOW_CHUNK_CHECKSUM_H_
#define CABLEWAY_CORE_FLOW_CHUNK_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "core/flow/frame.h"

namespace cableway {

// Of a payload that is seen part by part.
class ChunkChecksum {
 public:
  void add(std::span<const std::byte> part);
  // As a frame carries it: never 0, which means that there is none. A CRC of 0 counts as 0xFFFFFFFF.
  std::uint32_t value() const;

 private:
  std::uint32_t crc_ = 0;
};

// The frame with the checksum of its payload, unless it has one already or its payload is empty.
Frame with_checksum(const Frame& chunk, const std::byte* payload);

// DataLoss: the frame has a checksum, and it is not that of the payload. `found`: of the payload as it arrived.
absl::Status check_checksum(const Frame& chunk, const ChunkChecksum& found);
absl::Status check_checksum(const Frame& chunk, const std::byte* payload);

// Whether it is a status of a link that has found damaged bytes, here or in a frame's header (decode_frame()).
bool found_corruption(const absl::Status& status);

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CHUNK_CHECKSUM_H_
