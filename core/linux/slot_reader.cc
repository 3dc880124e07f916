#include "core/linux/slot_reader.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/linux/uninterrupted.h"

namespace cableway::linux_ {
namespace {

constexpr std::size_t kMaxSlots = 64;

}  // namespace

SlotReader::SlotReader(int socket) : socket_(socket) {
  // Reserved here so that nothing is allocated while data flows.
  free_.reserve(kMaxSlots);
  failure_text_.reserve(kMaxFailureText);
}

void SlotReader::post_slot(PipeSlot& slot) {
  slot.filled = 0;
  slot.drained = 0;
  takes_chunks_ = true;
  free_.push_back(&slot);
}

absl::Status SlotReader::progress(ChunkLink::Owner& owner) {
  while (true) {
    absl::StatusOr<Outcome> outcome = Outcome::kMustWait;
    if (!frame_.has_value()) {
      outcome = read_header();
    } else if (frame_->kind == FrameKind::kFailed) {
      outcome = read_failure_text();
    } else if (filling_ != nullptr) {
      outcome = read_payload();
    } else {
      outcome = act_on_header(owner);
    }
    if (!outcome.ok()) return outcome.status();
    if (*outcome == Outcome::kMustWait) return absl::OkStatus();
  }
}

absl::StatusOr<SlotReader::Outcome> SlotReader::count(ssize_t got) {
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Outcome::kMustWait;
  if (got < 0) return absl::ErrnoToStatus(errno, "cannot read from the peer");
  if (got == 0) return absl::UnavailableError("the peer closed the connection");
  bytes_read_ += static_cast<std::uint64_t>(got);
  return Outcome::kAgain;
}

absl::StatusOr<SlotReader::Outcome> SlotReader::read_header() {
  const ssize_t got = uninterrupted(
      [&] { return ::recv(socket_, &header_[header_read_], kFrameHeaderBytes - header_read_, MSG_DONTWAIT); });
  absl::StatusOr<Outcome> outcome = count(got);
  if (!outcome.ok() || *outcome == Outcome::kMustWait) return outcome;
  header_read_ += static_cast<std::size_t>(got);
  if (header_read_ < kFrameHeaderBytes) return Outcome::kAgain;
  header_read_ = 0;
  absl::StatusOr<Frame> frame = decode_frame(header_);
  if (!frame.ok()) return frame.status();
  frame_ = *frame;
  return Outcome::kAgain;
}

absl::StatusOr<SlotReader::Outcome> SlotReader::act_on_header(ChunkLink::Owner& owner) {
  const Frame frame = *frame_;
  if (frame.kind == FrameKind::kAnnounce || frame.kind == FrameKind::kAck) {
    frame_.reset();
    if (absl::Status status = owner.on_control(frame); !status.ok()) return status;
    return Outcome::kAgain;
  }
  if (frame.kind != FrameKind::kChunk) {
    return absl::InvalidArgumentError(
        absl::StrCat("peer sent a frame ", to_text(frame.kind), " on a circuit that is already set up"));
  }
  if (!takes_chunks_) return absl::InvalidArgumentError("peer sent a chunk against the circuit's direction");
  if (free_.empty()) return Outcome::kMustWait;
  filling_ = free_.back();
  free_.pop_back();
  if (frame.payload == 0) {
    PipeSlot& slot = *filling_;
    filling_ = nullptr;
    frame_.reset();
    if (absl::Status status = owner.on_chunk(frame, slot); !status.ok()) return status;
    return Outcome::kAgain;
  }
  if (absl::Status status = owner.on_chunk(frame, *filling_); !status.ok()) return status;
  return Outcome::kAgain;
}

absl::StatusOr<SlotReader::Outcome> SlotReader::read_payload() {
  PipeSlot& slot = *filling_;
  const std::uint32_t missing = frame_->payload - slot.filled;
  const ssize_t got = uninterrupted([&] {
    return frame_->payload <= PipeSlot::kCopiedBytes
               ? ::recv(socket_, &slot.copied[slot.filled], missing, MSG_DONTWAIT)
               : ::splice(socket_, nullptr, slot.write_end(), nullptr, missing, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  });
  absl::StatusOr<Outcome> outcome = count(got);
  if (!outcome.ok() || *outcome == Outcome::kMustWait) return outcome;
  slot.filled += static_cast<std::uint32_t>(got);
  if (slot.filled == frame_->payload) {
    filling_ = nullptr;
    frame_.reset();
  }
  return Outcome::kAgain;
}

absl::StatusOr<SlotReader::Outcome> SlotReader::read_failure_text() {
  char text[kMaxFailureText];
  const std::size_t missing = frame_->payload - failure_text_.size();
  if (missing > 0) {
    const ssize_t got = uninterrupted([&] { return ::recv(socket_, text, missing, MSG_DONTWAIT); });
    absl::StatusOr<Outcome> outcome = count(got);
    if (!outcome.ok() || *outcome == Outcome::kMustWait) return outcome;
    failure_text_.append(text, static_cast<std::size_t>(got));
  }
  if (failure_text_.size() < frame_->payload) return Outcome::kAgain;
  return absl::UnavailableError(failure_text_);
}

}  // namespace cableway::linux_
