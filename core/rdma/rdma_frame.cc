#include "core/rdma/rdma_frame.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/little_endian.h"

namespace cableway {
namespace {

// Offsets of the kind, as in Frame's encoding, and of the fields after the frame.
constexpr std::size_t kKindAt = 1;
constexpr std::size_t kAddressAt = kFrameHeaderBytes;
constexpr std::size_t kKeyAt = kAddressAt + 8;
constexpr std::size_t kTakenAt = kKeyAt + 4;

bool travels_on_hops(FrameKind kind) {
  return kind == FrameKind::kChunk || is_control(kind);
}

absl::Status check_hop_frame(const RdmaFrame& frame) {
  const bool needs_address = frame.what != RdmaFrame::What::kTaken;
  if (needs_address == (frame.address != 0) && (frame.key == 0 || frame.what == RdmaFrame::What::kSlot)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("hop frame of kind ", static_cast<unsigned>(frame.what),
                                                 " is malformed: address ", frame.address, ", key ", frame.key));
}

}  // namespace

RdmaFrameBytes encode_rdma_frame(const RdmaFrame& frame) {
  RdmaFrameBytes bytes{};
  if (frame.what == RdmaFrame::What::kFrame) {
    const FrameBytes head = encode_unsummed_frame(frame.frame);
    std::copy(head.begin(), head.end(), bytes.begin());
  } else {
    bytes[0] = static_cast<std::byte>(kFrameMagic);
    bytes[kKindAt] = static_cast<std::byte>(frame.what);
  }
  store_little_endian(&bytes[kAddressAt], frame.address);
  store_little_endian(&bytes[kKeyAt], frame.key);
  store_little_endian(&bytes[kTakenAt], frame.taken);
  return bytes;
}

absl::StatusOr<RdmaFrame> decode_rdma_frame(std::span<const std::byte, kRdmaFrameBytes> bytes) {
  RdmaFrame frame;
  frame.address = load_little_endian<std::uint64_t>(&bytes[kAddressAt]);
  frame.key = load_little_endian<std::uint32_t>(&bytes[kKeyAt]);
  frame.taken = load_little_endian<std::uint32_t>(&bytes[kTakenAt]);
  const auto kind = static_cast<std::uint8_t>(bytes[kKindAt]);
  constexpr auto kFirst = static_cast<std::uint8_t>(RdmaFrame::What::kSlot);
  constexpr auto kLast = static_cast<std::uint8_t>(RdmaFrame::What::kTaken);
  if (kind >= kFirst && kind <= kLast) {
    frame.what = static_cast<RdmaFrame::What>(kind);
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    const auto rest = bytes.subspan<kKindAt + 1, kFrameHeaderBytes - kKindAt - 1>();
    if (bytes[0] != static_cast<std::byte>(kFrameMagic) || !std::all_of(rest.begin(), rest.end(), is_zero)) {
      return absl::InvalidArgumentError("hop frame is malformed: not the expected magic and zeros");
    }
    if (absl::Status status = check_hop_frame(frame); !status.ok()) return status;
    return frame;
  }
  absl::StatusOr<Frame> head = decode_unsummed_frame(bytes.first<kFrameHeaderBytes>());
  if (!head.ok()) return head.status();
  if (!travels_on_hops(head->kind)) {
    return absl::InvalidArgumentError(absl::StrCat("peer sent a frame ", to_text(head->kind), " into a mailbox"));
  }
  const bool may_have_address = head->kind == FrameKind::kChunk || head->kind == FrameKind::kAnnounce;
  if (!may_have_address && (frame.address != 0 || frame.key != 0)) {
    return absl::InvalidArgumentError(absl::StrCat("frame ", to_text(head->kind), " is malformed: address ",
                                                   frame.address, ", key ", frame.key,
                                                   ", where 0 is expected of both"));
  }
  frame.frame = *head;
  return frame;
}

}  // namespace cableway
