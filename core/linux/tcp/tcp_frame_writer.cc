#include "core/linux/tcp/tcp_frame_writer.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/status/statusor.h"
#include "core/flow/chunk_checksum.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/tcp/connection_error.h"

namespace cableway::host {
namespace {

bool must_wait(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

absl::Status write_failed(int error) {
  return connection_error(error, "cannot write to the peer");
}

}  // namespace

void TcpFrameWriter::begin(const Frame& chunk, const std::byte* payload) {
  // The payload passes through the cache before the kernel copies it.
  begin_chunk(checksums_ ? with_checksum(chunk, payload) : chunk, payload);
}

void TcpFrameWriter::begin_chunk(const Frame& chunk, const std::byte* memory) {
  header_ = encode_frame(chunk);
  header_written_ = 0;
  payload_bytes_ = chunk.payload;
  payload_written_ = 0;
  memory_ = memory;
  slot_ = nullptr;
  memory_slot_ = nullptr;
  chunk_active_ = true;
}

void TcpFrameWriter::begin(const Frame& chunk, PipeSlot& slot) {
  begin_chunk(chunk, slot.head.data());  // its payload is in the kernel: it has a checksum from its source, or none
  slot_ = &slot;
}

void TcpFrameWriter::begin(const Frame& chunk, RegisteredSlot& slot) {
  begin(chunk, slot.data());
  memory_slot_ = &slot;
}

absl::Status TcpFrameWriter::queue(const Frame& control) {
  if (controls_begin_ == controls_end_) controls_begin_ = controls_end_ = 0;
  if (controls_end_ + kFrameHeaderBytes > controls_.size()) {
    std::memmove(controls_.data(), &controls_[controls_begin_], controls_end_ - controls_begin_);
    controls_end_ -= controls_begin_;
    controls_begin_ = 0;
  }
  if (controls_end_ + kFrameHeaderBytes > controls_.size()) {
    return absl::ResourceExhaustedError("more control frames are waiting than the protocol allows");
  }
  const FrameBytes bytes = encode_frame(control);
  std::memcpy(&controls_[controls_end_], bytes.data(), bytes.size());
  controls_end_ += bytes.size();
  return absl::OkStatus();
}

absl::Status TcpFrameWriter::progress(ChunkLink::Sink& sink) {
  while (true) {
    if (!within_chunk() && controls_begin_ < controls_end_) {
      absl::StatusOr<Outcome> outcome = write_controls();
      if (!outcome.ok()) return outcome.status();
      if (*outcome == Outcome::kMustWait) return absl::OkStatus();
    }
    if (!chunk_active_) return absl::OkStatus();
    absl::StatusOr<Outcome> outcome = write_chunk();
    if (!outcome.ok()) return outcome.status();
    if (*outcome == Outcome::kMustWait) return absl::OkStatus();
    chunk_active_ = false;
    if (memory_slot_ != nullptr) memory_slot_->drained = payload_written_;
    sink.on_sent(memory_slot_ != nullptr ? static_cast<Slot*>(memory_slot_) : slot_);
  }
}

absl::StatusOr<TcpFrameWriter::Outcome> TcpFrameWriter::write_controls() {
  while (controls_begin_ < controls_end_) {
    const ssize_t written = uninterrupted([&] {
      return ::send(socket_, &controls_[controls_begin_], controls_end_ - controls_begin_, MSG_DONTWAIT | MSG_NOSIGNAL);
    });
    if (written < 0) {
      if (must_wait(errno)) return Outcome::kMustWait;
      return write_failed(errno);
    }
    controls_begin_ += static_cast<std::size_t>(written);
    bytes_written_ += static_cast<std::uint64_t>(written);
  }
  return Outcome::kAllWritten;
}

absl::StatusOr<TcpFrameWriter::Outcome> TcpFrameWriter::write_chunk() {
  if (slot_ == nullptr) return write_header_and_memory(payload_bytes_, 0);
  absl::StatusOr<Outcome> outcome = write_from_slot();
  slot_->drained = payload_written_;
  return outcome;
}

absl::StatusOr<TcpFrameWriter::Outcome> TcpFrameWriter::write_header_and_memory(std::uint32_t bytes, int more) {
  while (header_written_ < kFrameHeaderBytes || payload_written_ < bytes) {
    iovec parts[2] = {{&header_[header_written_ % kFrameHeaderBytes], kFrameHeaderBytes - header_written_},
                      {const_cast<std::byte*>(memory_) + payload_written_, bytes - payload_written_}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t written =
        uninterrupted([&] { return ::sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL | more); });
    if (written < 0) {
      if (must_wait(errno)) return Outcome::kMustWait;
      return write_failed(errno);
    }
    bytes_written_ += static_cast<std::uint64_t>(written);
    const std::size_t of_header = std::min(static_cast<std::size_t>(written), kFrameHeaderBytes - header_written_);
    header_written_ += of_header;
    payload_written_ += static_cast<std::uint32_t>(static_cast<std::size_t>(written) - of_header);
  }
  return Outcome::kAllWritten;
}

absl::StatusOr<TcpFrameWriter::Outcome> TcpFrameWriter::write_from_slot() {
  const bool all_head = payload_bytes_ <= PipeSlot::kHeadBytes;
  if (all_head && slot_->filled < payload_bytes_) return Outcome::kMustWait;
  // The header waits for its first payload bytes: alone it would cost a TCP segment.
  if (!all_head && slot_->filled == 0) return Outcome::kMustWait;
  if (payload_written_ < slot_->head_filled || header_written_ < kFrameHeaderBytes) {
    absl::StatusOr<Outcome> head = write_header_and_memory(slot_->head_filled, all_head ? 0 : MSG_MORE);
    if (!head.ok() || *head == Outcome::kMustWait) return head;
  }
  return all_head ? Outcome::kAllWritten : write_from_pipe();
}

absl::StatusOr<TcpFrameWriter::Outcome> TcpFrameWriter::write_from_pipe() {
  while (payload_written_ < payload_bytes_) {
    const std::uint32_t here = slot_->filled - payload_written_;
    if (here == 0) return Outcome::kMustWait;
    const bool last = slot_->filled == payload_bytes_;
    const unsigned flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK | (last ? 0U : SPLICE_F_MORE);
    const ssize_t moved =
        uninterrupted([&] { return ::splice(slot_->read_end(), nullptr, socket_, nullptr, here, flags); });
    if (moved < 0) {
      if (must_wait(errno)) return Outcome::kMustWait;
      return write_failed(errno);
    }
    payload_written_ += static_cast<std::uint32_t>(moved);
    bytes_written_ += static_cast<std::uint64_t>(moved);
  }
  return Outcome::kAllWritten;
}

void TcpFrameWriter::try_send_failure(absl::string_view reason, FailureScope scope) {
  if (within_chunk()) return;
  const absl::StatusOr<Outcome> controls = write_controls();
  if (!controls.ok() || *controls == Outcome::kMustWait) return;
  reason = reason.substr(0, kMaxFailureText);
  FrameBytes header = encode_frame(failed_frame(static_cast<std::uint32_t>(reason.size()), scope));
  iovec parts[2] = {{header.data(), header.size()}, {const_cast<char*>(reason.data()), reason.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  // If the socket is full or dead, the peer only sees the end of the connection.
  static_cast<void>(::sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

}  // namespace cableway::host
