// The 48-byte frames that the two ends of an RDMA hop write into each other's mailboxes, numbered by the notice that
// accompanies them (core/rdma/rdma_chunk_link.h).
//
//   offset  0                  32           40       44
//           +------------------+------------+--------+---------+
//           | a frame, or zero | address    | key    | taken   |
//           +------------------+------------+--------+---------+
//
//   what          frame      address                             key
//   kFrame        unsummed   of the memory for it: kAnnounce's   its remote key
//                            landing, kChunk's slot; else 0
//   kSlot         kind 0x81  of a slot that may be written now   its remote key
//   kRecall       kind 0x82  of a slot to return                 0
//   kReturn       kind 0x83  of a recalled slot that will not    0
//                            be written any more
//   kTaken        kind 0x84  0                                   0
//
// `taken`: the number of the other side's frames that were taken out of the mailbox, so that as many more may be
// sent. An announcement carries an address on the last hop only, since on other hops chunks are written into slots.
// Integers are little-endian.
#ifndef CABLEWAY_CORE_RDMA_RDMA_FRAME_H_
#define CABLEWAY_CORE_RDMA_RDMA_FRAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "core/flow/frame.h"

namespace cableway {

inline constexpr std::size_t kRdmaFrameBytes = 48;

struct RdmaFrame {
  enum class What : std::uint8_t { kFrame = 0, kSlot = 0x81, kRecall = 0x82, kReturn = 0x83, kTaken = 0x84 };

  What what = What::kFrame;
  Frame frame;  // kFrame: a chunk, or a control frame (is_control())
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t taken = 0;  // modulo 2^32

  friend bool operator==(const RdmaFrame&, const RdmaFrame&) = default;
};

using RdmaFrameBytes = std::array<std::byte, kRdmaFrameBytes>;

RdmaFrameBytes encode_rdma_frame(const RdmaFrame& frame);
// InvalidArgument names what is malformed.
absl::StatusOr<RdmaFrame> decode_rdma_frame(std::span<const std::byte, kRdmaFrameBytes> bytes);

}  // namespace cableway

#endif  // CABLEWAY_CORE_RDMA_RDMA_FRAME_H_
