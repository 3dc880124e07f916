#include "core/flow/frame.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/flow/circuit_name.h"
#include "core/flow/crc32c.h"
#include "core/little_endian.h"

namespace cableway {
namespace {

using EncodedFrame = std::span<const std::byte, kFrameHeaderBytes>;

constexpr std::size_t kSumAt = 2;

absl::Status malformed(const Frame& frame, const char* what) {
  return absl::InvalidArgumentError(absl::StrCat("frame ", to_text(frame.kind), " is malformed: ", what, " (payload ",
                                                 frame.payload, ", message ", frame.message, ", offset ", frame.offset,
                                                 ", size ", frame.size, ")"));
}

absl::Status check_chunk(const Frame& frame) {
  if (frame.payload > kMaxChunkBytes) return malformed(frame, "chunk too large");
  if (frame.size > kMaxMessageBytes) return malformed(frame, "message too large");
  if (frame.offset > frame.size || frame.payload > frame.size - frame.offset) {
    return malformed(frame, "chunk reaches past its message");
  }
  const bool last = frame.offset + frame.payload == frame.size;
  if (!last && (frame.payload == 0 || frame.payload % kLineBytes != 0)) {
    return malformed(frame, "an inner chunk must end on a multiple of 128");
  }
  if (frame.payload == 0 && frame.checksum != 0) return malformed(frame, "the checksum of no bytes");
  return absl::OkStatus();
}

absl::Status check_acknowledgement(const Frame& frame) {
  if (frame.payload != 0) return malformed(frame, "no payload expected");
  return frame.offset == 0 ? absl::OkStatus() : malformed(frame, "offset 0 expected");
}

absl::Status check_announcement(const Frame& frame) {
  if (frame.payload != 0) return malformed(frame, "no payload expected");
  return frame.offset <= 2 ? absl::OkStatus() : malformed(frame, "offset 0 to 2 expected");
}

absl::Status check_gate(const Frame& frame) {
  if (frame.payload != 0 || frame.message != 0) return malformed(frame, "payload and message 0 expected");
  return frame.offset <= 1 ? absl::OkStatus() : malformed(frame, "offset 0 or 1 expected");
}

absl::Status check_landed(const Frame& frame) {
  const bool alone = frame.payload == 0 && frame.offset == 0 && frame.size == 0;
  return alone ? absl::OkStatus() : malformed(frame, "payload, offset and size 0 expected");
}

absl::Status check_about_circuit(const Frame& frame) {
  if (frame.payload != 0) return malformed(frame, "no payload expected");
  if (frame.kind == FrameKind::kRetire && frame.message != 0) return malformed(frame, "message 0 expected");
  if (frame.offset >= kMaxFlowCircuits) return malformed(frame, "no such slot");
  const bool is_generation = frame.size >= 1 && frame.size <= std::numeric_limits<std::uint32_t>::max();
  return is_generation ? absl::OkStatus() : malformed(frame, "size 1 to 4294967295 expected");
}

absl::Status check_failed(const Frame& frame) {
  if (frame.payload > kMaxFailureText) return malformed(frame, "payload too long");
  if (frame.message != 0) return malformed(frame, "message 0 expected");
  const bool is_scope = frame.offset <= static_cast<std::uint64_t>(FailureScope::kBusy);
  if (!is_scope) return malformed(frame, "offset 0 to 2 expected");
  return absl::OkStatus();
}

absl::Status check_setup(const Frame& frame) {
  if (frame.payload > kMaxSetupBytes) return malformed(frame, "payload too long");
  const bool zero = frame.message == 0 && frame.offset == 0 && frame.size == 0;
  return zero ? absl::OkStatus() : malformed(frame, "message, offset and size 0 expected");
}

absl::Status check_setup_ok(const Frame& frame) {
  if (frame.payload > kMaxSetupOkBytes) return malformed(frame, "payload too long");
  if (frame.message != 0 || frame.offset != 0) return malformed(frame, "message and offset 0 expected");
  const bool chunk = frame.size <= kMaxChunkBytes && frame.size % kLineBytes == 0;
  return chunk ? absl::OkStatus() : malformed(frame, "size of a chunk expected");
}

absl::Status check_probe(const Frame& frame) {
  if (frame.payload > kMaxProbeBytes) return malformed(frame, "payload too long");
  if (frame.message != 0) return malformed(frame, "message 0 expected");
  if (frame.offset > 1) return malformed(frame, "offset 0 or 1 expected");
  return frame.size >= 1 && frame.size <= kMaxProbeMs ? absl::OkStatus() : malformed(frame, "size 1 to 2000 expected");
}

absl::Status check_document(const Frame& frame) {
  if (frame.payload > kMaxDocumentBytes) return malformed(frame, "payload too long");
  const bool zero = frame.message == 0 && frame.offset == 0 && frame.size == 0;
  return zero ? absl::OkStatus() : malformed(frame, "message, offset and size 0 expected");
}

absl::Status check_sixteen_bytes(const Frame& frame) {
  const bool alone = frame.payload == 0 && frame.message == 0;
  return alone ? absl::OkStatus() : malformed(frame, "payload and message 0 expected");
}

absl::Status check_fields(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kChunk:
      return check_chunk(frame);
    case FrameKind::kAnnounce:
      return check_announcement(frame);
    case FrameKind::kAck:
      return check_acknowledgement(frame);
    case FrameKind::kFailed:
      return check_failed(frame);
    case FrameKind::kSetup:
      return check_setup(frame);
    case FrameKind::kSetupOk:
      return check_setup_ok(frame);
    case FrameKind::kProbe:
      return check_probe(frame);
    case FrameKind::kChallenge:
    case FrameKind::kSeal:
      return check_sixteen_bytes(frame);
    case FrameKind::kLanded:
      return check_landed(frame);
    case FrameKind::kRetire:
    case FrameKind::kRetired:
      return check_about_circuit(frame);
    case FrameKind::kGate:
      return check_gate(frame);
    case FrameKind::kDocument:
      return check_document(frame);
  }
  return malformed(frame, "unknown kind");
}

absl::Status check_magic(EncodedFrame bytes) {
  if (bytes[0] == std::byte{kFrameMagic}) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("not a Cableway frame: it begins with byte 0x",
                                                 absl::Hex(static_cast<unsigned>(bytes[0])), ", expected 0x",
                                                 absl::Hex(static_cast<unsigned>(kFrameMagic))));
}

Frame fields_of(EncodedFrame bytes) {
  Frame frame;
  frame.kind = static_cast<FrameKind>(bytes[1]);
  frame.payload = load_little_endian<std::uint32_t>(&bytes[4]);
  frame.message = load_little_endian<std::uint64_t>(&bytes[8]);
  if (frame.kind == FrameKind::kChunk) {
    frame.offset = load_little_endian<std::uint32_t>(&bytes[16]) * kLineBytes;
    frame.checksum = load_little_endian<std::uint32_t>(&bytes[20]);
  } else {
    frame.offset = load_little_endian<std::uint64_t>(&bytes[16]);
  }
  frame.size = load_little_endian<std::uint64_t>(&bytes[24]);
  return frame;
}

absl::Status check_sum(EncodedFrame bytes) {
  FrameBytes header;
  std::copy(bytes.begin(), bytes.end(), header.begin());
  const auto carried = load_little_endian<std::uint16_t>(&header[kSumAt]);
  const std::uint16_t found = header_sum(header);
  if (carried == found) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("frame corrupted: its header has the sum ", absl::Hex(found, absl::kZeroPad4),
                                          " instead of ", absl::Hex(carried, absl::kZeroPad4),
                                          "; that cable changes data"));
}

absl::Status check_no_sum(const Frame& frame, EncodedFrame bytes) {
  if (load_little_endian<std::uint16_t>(&bytes[kSumAt]) == 0) return absl::OkStatus();
  return malformed(frame, "reserved bytes are not zero");
}

}  // namespace

const char* to_text(FrameKind kind) {
  switch (kind) {
    case FrameKind::kChunk:
      return "chunk";
    case FrameKind::kAnnounce:
      return "announce";
    case FrameKind::kAck:
      return "ack";
    case FrameKind::kFailed:
      return "failed";
    case FrameKind::kSetup:
      return "set-up";
    case FrameKind::kSetupOk:
      return "set-up-ok";
    case FrameKind::kProbe:
      return "probe";
    case FrameKind::kChallenge:
      return "challenge";
    case FrameKind::kSeal:
      return "seal";
    case FrameKind::kLanded:
      return "landed";
    case FrameKind::kRetire:
      return "retire";
    case FrameKind::kRetired:
      return "retired";
    case FrameKind::kGate:
      return "gate";
    case FrameKind::kDocument:
      return "document";
  }
  return "of unknown kind";
}

bool is_control(FrameKind kind) {
  switch (kind) {
    case FrameKind::kAnnounce:
    case FrameKind::kAck:
    case FrameKind::kLanded:
    case FrameKind::kRetire:
    case FrameKind::kRetired:
    case FrameKind::kGate:
      return true;
    default:
      return false;
  }
}

bool has_header_sum(FrameKind kind) {
  return kind == FrameKind::kChunk || kind == FrameKind::kFailed || is_control(kind);
}

std::uint16_t header_sum(const FrameBytes& header) {
  FrameBytes summed = header;
  store_little_endian<std::uint16_t>(&summed[kSumAt], 0);
  return static_cast<std::uint16_t>(crc32c(summed));
}

FrameBytes encode_unsummed_frame(const Frame& frame) {
  FrameBytes bytes{};
  bytes[0] = std::byte{kFrameMagic};
  bytes[1] = static_cast<std::byte>(frame.kind);
  store_little_endian(&bytes[4], frame.payload);
  store_little_endian(&bytes[8], frame.message);
  if (frame.kind == FrameKind::kChunk) {
    store_little_endian(&bytes[16], static_cast<std::uint32_t>(frame.offset / kLineBytes));
    store_little_endian(&bytes[20], frame.checksum);
  } else {
    store_little_endian(&bytes[16], frame.offset);
  }
  store_little_endian(&bytes[24], frame.size);
  return bytes;
}

FrameBytes encode_frame(const Frame& frame) {
  FrameBytes bytes = encode_unsummed_frame(frame);
  if (has_header_sum(frame.kind)) store_little_endian(&bytes[kSumAt], header_sum(bytes));
  return bytes;
}

absl::StatusOr<Frame> decode_unsummed_frame(std::span<const std::byte, kFrameHeaderBytes> bytes) {
  if (absl::Status status = check_magic(bytes); !status.ok()) return status;
  const Frame frame = fields_of(bytes);
  if (absl::Status status = check_no_sum(frame, bytes); !status.ok()) return status;
  if (absl::Status status = check_fields(frame); !status.ok()) return status;
  return frame;
}

absl::StatusOr<Frame> decode_frame(std::span<const std::byte, kFrameHeaderBytes> bytes) {
  if (absl::Status status = check_magic(bytes); !status.ok()) return status;
  const Frame frame = fields_of(bytes);
  const bool has_sum = has_header_sum(frame.kind);
  if (absl::Status status = has_sum ? check_sum(bytes) : check_no_sum(frame, bytes); !status.ok()) return status;
  if (absl::Status status = check_fields(frame); !status.ok()) return status;
  return frame;
}

}  // namespace cableway
