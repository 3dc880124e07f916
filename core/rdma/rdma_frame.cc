#include "core/rdma/rdma_frame.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/wire.h"

namespace cableway {
namespace {

// Offset of the kind, as in Frame's encoding.
constexpr std::size_t kKindAt = 1;

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
  FrameBytes head{};
  if (frame.what == RdmaFrame::What::kFrame) {
    head = encode_frame(frame.frame);
  } else {
    head[0] = static_cast<std::byte>(kFrameMagic);
    head[kKindAt] = static_cast<std::byte>(frame.what);
  }
  RdmaFrameBytes bytes{};
  std::byte* to = std::copy(head.begin(), head.end(), bytes.begin());
  for (std::size_t i = 0; i < 8; ++i) *to++ = static_cast<std::byte>(frame.address >> (8 * i));
  for (std::size_t i = 0; i < 4; ++i) *to++ = static_cast<std::byte>(frame.key >> (8 * i));
  for (std::size_t i = 0; i < 4; ++i) *to++ = static_cast<std::byte>(frame.taken >> (8 * i));
  return bytes;
}

absl::StatusOr<RdmaFrame> decode_rdma_frame(std::span<const std::byte, kRdmaFrameBytes> bytes) {
  WireReader reader(bytes.subspan<kFrameHeaderBytes>());
  RdmaFrame frame;
  frame.address = reader.get<std::uint64_t>();
  frame.key = reader.get<std::uint32_t>();
  frame.taken = reader.get<std::uint32_t>();
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
  absl::StatusOr<Frame> head = decode_frame(bytes.first<kFrameHeaderBytes>());
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
