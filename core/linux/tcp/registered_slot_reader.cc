#include "core/linux/tcp/registered_slot_reader.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/flow/chunk_checksum.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/tcp/connection_error.h"
#include "core/linux/tcp/relay_frame.h"
#include "core/printable.h"

namespace cableway::host {

RegisteredSlotReader::RegisteredSlotReader(int socket, bool checksums) : socket_(socket), checksums_(checksums) {
  constexpr std::size_t kMaxPosted = 64;
  // Reserved here so that the data path does not allocate.
  free_.reserve(kMaxPosted);
}

void RegisteredSlotReader::post_slot(RegisteredSlot& slot) {
  slot.filled = 0;
  slot.drained = 0;
  takes_chunks_ = true;
  free_.push_back(&slot);
}

bool RegisteredSlotReader::withdraw_slot(RegisteredSlot& slot) {
  return std::erase(free_, &slot) > 0;
}

absl::Status RegisteredSlotReader::progress(ChunkLink::Sink& sink) {
  while (true) {
    const absl::StatusOr<Outcome> outcome = step(sink);
    if (!outcome.ok()) return outcome.status();
    if (*outcome == Outcome::kMustWait) return absl::OkStatus();
  }
}

absl::StatusOr<RegisteredSlotReader::Outcome> RegisteredSlotReader::step(ChunkLink::Sink& sink) {
  if (!frame_.has_value()) return read_header();
  if (frame_->kind == FrameKind::kFailed) return read_failure_text();
  return filling_ != nullptr ? read_payload(sink) : handle_header(sink);
}

absl::StatusOr<RegisteredSlotReader::Outcome> RegisteredSlotReader::read(std::byte* to, std::size_t bytes,
                                                                         std::size_t& have) {
  while (have < bytes) {
    const ssize_t got = uninterrupted([&] { return ::recv(socket_, to + have, bytes - have, MSG_DONTWAIT); });
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Outcome::kMustWait;
    if (got < 0) return connection_error(errno, "cannot read from the peer");
    if (got == 0) return absl::CancelledError(kPeerClosed);
    have += static_cast<std::size_t>(got);
    bytes_read_ += static_cast<std::uint64_t>(got);
  }
  return Outcome::kAgain;
}

absl::StatusOr<RegisteredSlotReader::Outcome> RegisteredSlotReader::read_header() {
  absl::StatusOr<Outcome> outcome = read(staging_.data(), kFrameHeaderBytes, staged_);
  if (!outcome.ok() || *outcome == Outcome::kMustWait) return outcome;
  staged_ = 0;
  absl::StatusOr<Frame> frame = decode_frame(std::span(staging_).first<kFrameHeaderBytes>());
  if (!frame.ok()) return frame.status();
  frame_ = *frame;
  return Outcome::kAgain;
}

absl::StatusOr<RegisteredSlotReader::Outcome> RegisteredSlotReader::handle_header(ChunkLink::Sink& sink) {
  const Frame frame = *frame_;
  const absl::StatusOr<bool> is_chunk = is_relayed_chunk(frame, takes_chunks_, sink);
  if (!is_chunk.ok()) return is_chunk.status();
  if (!*is_chunk) {
    frame_.reset();
    return Outcome::kAgain;
  }
  if (free_.empty()) return Outcome::kMustWait;
  if (frame.payload > free_.back()->capacity()) {
    return absl::InvalidArgumentError(
        absl::StrCat("peer sent a chunk of ", frame.payload, " bytes; expected at most ", free_.back()->capacity()));
  }
  filling_ = free_.back();
  free_.pop_back();
  filled_ = 0;
  return Outcome::kAgain;
}

absl::StatusOr<RegisteredSlotReader::Outcome> RegisteredSlotReader::read_payload(ChunkLink::Sink& sink) {
  absl::StatusOr<Outcome> outcome = read(filling_->data(), frame_->payload, filled_);
  if (!outcome.ok() || *outcome == Outcome::kMustWait) return outcome;
  if (checksums_) {
    // The chunk leaves TCP here, possibly for memory that the destination's processor cannot read, so it is checked
    // now.
    if (absl::Status status = check_checksum(*frame_, filling_->data()); !status.ok()) return status;
  }
  RegisteredSlot& slot = *std::exchange(filling_, nullptr);
  const Frame frame = *std::exchange(frame_, std::nullopt);
  slot.filled = frame.payload;
  if (absl::Status status = sink.on_chunk(frame, slot); !status.ok()) return status;
  return Outcome::kAgain;
}

absl::StatusOr<RegisteredSlotReader::Outcome> RegisteredSlotReader::read_failure_text() {
  absl::StatusOr<Outcome> outcome = read(staging_.data(), frame_->payload, staged_);
  if (!outcome.ok() || *outcome == Outcome::kMustWait) return outcome;
  const char* text = reinterpret_cast<const char*>(staging_.data());
  return received_failure(scope_of(*frame_), printable(std::string_view(text, frame_->payload)));
}

}  // namespace cableway::host
