// The frames on a circuit's hop: 32-byte headers, some followed by a payload.
//
//   offset  0        1       2      4         8          16             24             32
//           +--------+-------+------+---------+----------+--------------+--------------+
//           | magic  | kind  | sum  | payload | message  | offset       | size         |
//           +--------+-------+------+---------+----------+--------------+--------------+
//
//   of a chunk:                                          | line | check | (16 to 19, 20 to 23)
//
//   kind      payload        message    offset           size
//   kChunk    chunk bytes    sequence   of the payload,  of the whole message
//                                       in lines of 128
//                                       bytes; checksum
//   kAnnounce 0              sequence   0: this circuit  capacity of the receive that was posted
//                                       is the primary;
//                                       1: it carries
//                                       chunks beside it;
//                                       2: and those of
//                                       all later large
//                                       receives that the
//                                       primary announces
//   kAck      0              sequence   0                bytes that landed: the message and all before it are complete
//   kLanded   0              count      0                0        (chunks landed over this circuit since it began)
//   kRetire   0              0          slot             generation of the circuit to fence (circuit_name.h)
//   kRetired  0              count      slot             generation of the fenced circuit; chunks landed over it
//   kGate     0              0          0: open          0        (of an alternate's way from here on, by a relay to
//                                       1: closed                 the flow's source: core/gate/port_gate.h)
//   kFailed   text bytes     0          scope            cause    (the text is the reason; FailureScope, RefusalCause)
//   kSetup    body bytes     0          0                0        (first frame of a connection: circuit_setup.h)
//   kSetupOk  body bytes     0          0                the largest chunk, or 0: as requested
//                                                        (answer to kSetup, circuit_setup.h; kFailed is the other)
//   kProbe    body bytes     0          0: data follows, milliseconds that the data may take
//                                       1: requests data
//                                                        (first frame of a connection: core/linux/hop/cable_probe.h)
//   kChallenge 0             0          16 random bytes  (first frame of both ends if there is a key)
//   kSeal     0              0          the 16 bytes of a seal over the frame before it (core/circuit/circuit_seal.h)
//   kDocument text bytes     0          0                0        (the answer to a set-up for a view: circuit_setup.h)
//
// `sum`: of the header, in the frames of an open circuit over TCP (has_header_sum()); zero in those of a set-up, which
// may be sealed, and over RDMA, whose devices check each packet. `check`: of the payload (chunk_checksum.h); 0: none.
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
// A chunk's place in its message is a 32-bit number of lines. The plugin reports this maximum to NCCL where NCCL's
// interface has a field for it.
inline constexpr std::uint64_t kMaxMessageBytes = kLineBytes << 32;
inline constexpr std::uint32_t kMaxFailureText = 512;
inline constexpr std::uint32_t kMaxSetupBytes = 65536;
inline constexpr std::uint32_t kMaxSetupOkBytes = 64;
inline constexpr std::uint32_t kMaxProbeBytes = 64;
inline constexpr std::uint32_t kMaxDocumentBytes = 256U << 10;
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
  kRetired,
  kGate,
  kDocument
};

// Whether the frame passes between the two ends of a flow, or from a relay to the source (kGate), without payload.
bool is_control(FrameKind kind);
// The direction of a control frame: to the flow's destination, or to its source.
inline bool goes_downstream(FrameKind kind) {
  return kind == FrameKind::kRetire;
}

// Whether the frame's header carries a checksum of itself. The place where a chunk lands and the messages between the
// flow's ends must not depend on TCP's 16-bit checksum.
bool has_header_sum(FrameKind kind);

// What a kFailed ends, and for how long. Sent on the wire.
enum class FailureScope : std::uint8_t {
  kCircuit,  // another circuit may carry the flow
  kFlow,     // none can: the flow's other end has given the flow up, or does not know it
  kBusy      // of a set-up only: a node on its path has no room for it now. Another one over the same path may do
};

// Why a set-up is refused, where the node that asked acts on it; the text is for people. Sent on the wire, in a kFailed
// that answers a set-up for a view, or for a purpose that this node does not know. All others have kOther.
enum class RefusalCause : std::uint8_t {
  kOther,
  kSilence,         // a node on the path has not answered
  kUnknownPurpose,  // the node that refuses does not know the purpose. It does not name itself: the one before it does
  kOldRelay,        // a node on the way, which the text names, does not know the purpose
  kOldEnd           // the node at the end of the path does not
};

struct Frame {
  FrameKind kind = FrameKind::kChunk;
  std::uint32_t payload = 0;
  std::uint64_t message = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;  // of a chunk's payload (chunk_checksum.h); 0: none

  friend bool operator==(const Frame&, const Frame&) = default;
};

inline Frame failed_frame(std::uint32_t text_bytes, FailureScope scope, RefusalCause cause = RefusalCause::kOther) {
  return Frame{FrameKind::kFailed, text_bytes, 0, static_cast<std::uint64_t>(scope), static_cast<std::uint64_t>(cause)};
}
// `load`: the load that flows' own paths put on the busiest port from here on, in bytes per second
// (core/gate/port_stamps.h).
inline Frame gate_frame(bool closed, std::uint64_t load = 0) {
  return Frame{FrameKind::kGate, 0, 0, closed ? 1U : 0U, load};
}
// Both require a frame kFailed that was checked.
inline FailureScope scope_of(const Frame& failed) {
  return static_cast<FailureScope>(failed.offset);
}
// kOther: one that a later version has added.
inline RefusalCause cause_of(const Frame& failed) {
  const bool is_known = failed.size <= static_cast<std::uint64_t>(RefusalCause::kOldEnd);
  return is_known ? static_cast<RefusalCause>(failed.size) : RefusalCause::kOther;
}

using FrameBytes = std::array<std::byte, kFrameHeaderBytes>;

// Requires that a chunk's offset is a multiple of kLineBytes below kMaxMessageBytes.
FrameBytes encode_frame(const Frame& frame);
// For RDMA: leaves the sum 0.
FrameBytes encode_unsummed_frame(const Frame& frame);

// The low 16 bits of the CRC32C of the header with zeros in place of the sum.
std::uint16_t header_sum(const FrameBytes& header);

// Checks everything that does not depend on the flow: magic, kind, the header's sum, payload bounds, and that a chunk
// lies inside its message. DataLoss: the header's sum is wrong. InvalidArgument: anything else.
absl::StatusOr<Frame> decode_frame(std::span<const std::byte, kFrameHeaderBytes> bytes);
// The same for RDMA, where the sum is 0.
absl::StatusOr<Frame> decode_unsummed_frame(std::span<const std::byte, kFrameHeaderBytes> bytes);

const char* to_text(FrameKind kind);

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FRAME_H_
