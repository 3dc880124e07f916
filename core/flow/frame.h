// The frames on a circuit's hop: 32-byte headers, some followed by a payload.
//
//   offset  0        1       2      4         8          16             24             32
//           +--------+-------+------+---------+----------+--------------+--------------+
//           | magic  | kind  | zero | payload | message  | offset       | size         |
//           +--------+-------+------+---------+----------+--------------+--------------+
//
//   kind      payload        message    offset           size
//   kChunk    chunk bytes    sequence   of the payload   of the whole message
//   kAnnounce 0              sequence   0                capacity of the receive that was posted
//   kAck      0              sequence   0                bytes that landed: the message and all before it are complete
//   kLanded   0              count      0                0        (chunks landed over this circuit since it began)
//   kRetire   0              0          slot             generation of the circuit to fence (circuit_name.h)
//   kRetired  0              count      slot             generation of the fenced circuit; chunks landed over it
//   kFailed   text bytes     0          0                0        (the circuit is dead; the text is the reason)
//   kSetup    body bytes     0          0                0        (first frame of a connection: circuit_setup.h)
//   kSetupOk  body bytes     0          0                the largest chunk, or 0: as requested
//                                                        (answer to kSetup, circuit_setup.h; kFailed is the other)
//   kProbe    body bytes     0          0: data follows, milliseconds that the data may take
//                                       1: requests data
//                                                        (first frame of a connection: core/linux/hop/cable_probe.h)
//   kChallenge 0             0          16 random bytes  (first frame of both ends if there is a key)
//   kSeal     0              0          the 16 bytes of a seal over the frame before it (core/circuit/circuit_seal.h)
//
// Integers are little-endian. docs/protocol.md has the rules of the exchange.
#ifndef CABLEWAY_CORE_FLOW_FRAME_H_
#define CABLEWAY_CORE_FLOW_FRAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"

namespace cableway {

inline constexpr std::uint8_t kFrameMagic = 0xCB;
inline constexpr std::size_t kFrameHeaderBytes = 32;
// Chunk boundaries are multiples of this, because NCCL's LL128 lines must not be split (decision 0003).
inline constexpr std::uint64_t kLineBytes = 128;
inline constexpr std::uint32_t kMaxChunkBytes = 4U << 20;
inline constexpr std::uint32_t kMaxFailureText = 512;
inline constexpr std::uint32_t kMaxSetupBytes = 65536;
inline constexpr std::uint32_t kMaxSetupOkBytes = 64;
inline constexpr std::uint32_t kMaxProbeBytes = 64;
inline constexpr std::uint64_t kMaxProbeMs = 2000;

enum class FrameKind : std::uint8_t {
  kChunk = 1,
  kAnnounce,
  kAck,
  kFailed,
  kSetup,
  kSetupOk,
  kProbe,
  kChallenge,
  kSeal,
  kLanded,
  kRetire,
  kRetired
};

// Passes between the two ends of a flow, without payload.
bool is_control(FrameKind kind);
// The direction of a control frame: to the flow's destination, or to its source.
inline bool goes_downstream(FrameKind kind) {
  return kind == FrameKind::kRetire;
}

struct Frame {
  FrameKind kind = FrameKind::kChunk;
  std::uint32_t payload = 0;
  std::uint64_t message = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;

  friend bool operator==(const Frame&, const Frame&) = default;
};

using FrameBytes = std::array<std::byte, kFrameHeaderBytes>;

FrameBytes encode_frame(const Frame& frame);

// Checks everything that does not depend on the flow: magic, kind, reserved zeros, payload bounds, the alignment of a
// chunk's offset, and that the chunk lies inside its message.
absl::StatusOr<Frame> decode_frame(std::span<const std::byte, kFrameHeaderBytes> bytes);

const char* to_text(FrameKind kind);

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FRAME_H_
