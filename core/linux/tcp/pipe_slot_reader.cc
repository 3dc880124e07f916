#include "core/linux/tcp/pipe_slot_reader.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/tcp/connection_error.h"
#include "core/linux/tcp/relay_frame.h"
#include "core/printable.h"

namespace cableway::host {
namespace {

constexpr std::size_t kMaxSlots = 64;

}  // namespace

PipeSlotReader::PipeSlotReader(int socket) : socket_(socket) {
  // Reserved here so that the data path does not allocate.
  free_.reserve(kMaxSlots);
}

void PipeSlotReader::post_slot(PipeSlot& slot) {
  slot.filled = 0;
  slot.drained = 0;
  slot.head_filled = 0;
  takes_chunks_ = true;
  free_.push_back(&slot);
}

bool PipeSlotReader::withdraw_slot(PipeSlot& slot) {
  const auto posted = std::find(free_.begin(), free_.end(), &slot);
  if (posted == free_.end()) return false;
  free_.erase(posted);
  return true;
}

void PipeSlotReader::on_readable(bool ended) {
  readable_ = true;
  ended_ = ended_ || ended;
}

absl::Status PipeSlotReader::progress(ChunkLink::Sink& sink) {
  while (true) {
    absl::StatusOr<Outcome> outcome = Outcome::kMustWait;
    if (!frame_.has_value()) {
      outcome = read_header();
    } else if (frame_->kind == FrameKind::kFailed) {
      outcome = read_failure_text();
    } else if (filling_ != nullptr) {
      outcome = read_payload();
    } else {
      outcome = handle_header(sink);
    }
    if (!outcome.ok()) return outcome.status();
    if (*outcome == Outcome::kMustWait) return absl::OkStatus();
  }
}

absl::StatusOr<PipeSlotReader::Outcome> PipeSlotReader::count(ssize_t got) {
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Outcome::kMustWait;
  if (got < 0) return connection_error(errno, "cannot read from the peer");
  if (got == 0) return absl::CancelledError(kPeerClosed);
  bytes_read_ += static_cast<std::uint64_t>(got);
  return Outcome::kAgain;
}

absl::StatusOr<PipeSlotReader::Outcome> PipeSlotReader::stage() {
  if (!readable_) return Outcome::kMustWait;
  std::memmove(staging_.data(), staging_.data() + staged_begin_, staged());
  staged_end_ = staged();
  staged_begin_ = 0;
  const std::size_t room = staging_.size() - staged_end_;
  const ssize_t got = uninterrupted([&] { return ::recv(socket_, &staging_[staged_end_], room, MSG_DONTWAIT); });
  absl::StatusOr<Outcome> outcome = count(got);
  if (!outcome.ok()) return outcome;
  if (*outcome == Outcome::kAgain) staged_end_ += static_cast<std::size_t>(got);
  // A short read has emptied the socket. Later data, or the end, makes the poller call on_readable() again.
  if (!ended_ && (*outcome == Outcome::kMustWait || static_cast<std::size_t>(got) < room)) readable_ = false;
  return outcome;
}

absl::StatusOr<PipeSlotReader::Outcome> PipeSlotReader::read_header() {
  if (staged() < kFrameHeaderBytes) return stage();
  absl::StatusOr<Frame> frame =
      decode_frame(std::span<const std::byte, kFrameHeaderBytes>(&staging_[staged_begin_], kFrameHeaderBytes));
  if (!frame.ok()) return frame.status();
  staged_begin_ += kFrameHeaderBytes;
  frame_ = *frame;
  return Outcome::kAgain;
}

absl::StatusOr<PipeSlotReader::Outcome> PipeSlotReader::handle_header(ChunkLink::Sink& sink) {
  const Frame frame = *frame_;
  const absl::StatusOr<bool> is_chunk = is_relayed_chunk(frame, takes_chunks_, sink);
  if (!is_chunk.ok()) return is_chunk.status();
  if (!*is_chunk) {
    frame_.reset();
    return Outcome::kAgain;
  }
  if (free_.empty()) return Outcome::kMustWait;
  filling_ = free_.back();
  free_.pop_back();
  if (frame.payload == 0) {
    PipeSlot& slot = *filling_;
    filling_ = nullptr;
    frame_.reset();
    if (absl::Status status = sink.on_chunk(frame, slot); !status.ok()) return status;
    return Outcome::kAgain;
  }
  if (absl::Status status = sink.on_chunk(frame, *filling_); !status.ok()) return status;
  return Outcome::kAgain;
}

absl::StatusOr<PipeSlotReader::Outcome> PipeSlotReader::read_payload() {
  PipeSlot& slot = *filling_;
  absl::StatusOr<Outcome> outcome = Outcome::kAgain;
  if (staged() > 0) {
    copy_staged_payload(slot);
  } else if (frame_->payload <= PipeSlot::kHeadBytes) {
    outcome = stage();
  } else {
    outcome = splice_payload(slot);
  }
  if (slot.filled == frame_->payload) {
    filling_ = nullptr;
    frame_.reset();
  }
  return outcome;
}

void PipeSlotReader::copy_staged_payload(PipeSlot& slot) {
  // Bytes staged behind a header fit the head. The rest of a larger payload goes to the pipe.
  const std::size_t bytes = std::min<std::size_t>(staged(), frame_->payload - slot.filled);
  std::memcpy(&slot.head[slot.head_filled], &staging_[staged_begin_], bytes);
  staged_begin_ += bytes;
  slot.head_filled += static_cast<std::uint32_t>(bytes);
  slot.filled += static_cast<std::uint32_t>(bytes);
}

absl::StatusOr<PipeSlotReader::Outcome> PipeSlotReader::splice_payload(PipeSlot& slot) {
  if (!readable_) return Outcome::kMustWait;
  if (slot.in_pipe() >= max_in_pipe_) return Outcome::kMustWait;
  const std::uint32_t room = std::min(max_in_pipe_ - slot.in_pipe(), frame_->payload - slot.filled);
  const ssize_t got = uninterrupted(
      [&] { return ::splice(socket_, nullptr, slot.write_end(), nullptr, room, SPLICE_F_MOVE | SPLICE_F_NONBLOCK); });
  absl::StatusOr<Outcome> outcome = count(got);
  if (!outcome.ok()) return outcome;
  if (*outcome == Outcome::kMustWait) {
    // Either the socket is empty or the pipe is full; the kernel does not report which.
    if (slot.in_pipe() == 0 && !ended_) readable_ = false;
    return outcome;
  }
  slot.filled += static_cast<std::uint32_t>(got);
  // A short splice is equally ambiguous. Forward what has arrived first.
  return static_cast<std::uint32_t>(got) < room ? Outcome::kMustWait : Outcome::kAgain;
}

absl::StatusOr<PipeSlotReader::Outcome> PipeSlotReader::read_failure_text() {
  if (staged() < frame_->payload) return stage();
  const char* text = reinterpret_cast<const char*>(&staging_[staged_begin_]);
  return received_failure(scope_of(*frame_), printable(std::string_view(text, frame_->payload)));
}

}  // namespace cableway::host
