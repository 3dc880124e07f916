#include "core/linux/rdma/tcp_lifeline.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/uninterrupted.h"
#include "core/linux/tcp/connection_error.h"
#include "core/printable.h"

namespace cableway::host {

absl::StatusOr<bool> TcpLifeline::fill(std::size_t bytes) {
  while (staged_ < bytes) {
    const ssize_t got =
        uninterrupted([&] { return ::recv(socket_.get(), &staging_[staged_], bytes - staged_, MSG_DONTWAIT); });
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (got < 0) return connection_error(errno, "cannot read from the peer");
    if (got == 0) return absl::CancelledError(kPeerClosed);
    staged_ += static_cast<std::size_t>(got);
  }
  return true;
}

absl::StatusOr<std::optional<Frame>> TcpLifeline::look() {
  absl::StatusOr<bool> whole = fill(kFrameHeaderBytes);
  if (!whole.ok()) return whole.status();
  if (!*whole) return std::nullopt;
  absl::StatusOr<Frame> frame = decode_frame(std::span(staging_).first<kFrameHeaderBytes>());
  if (!frame.ok()) return frame.status();
  if (frame->kind == FrameKind::kAck) {
    staged_ = 0;
    return std::optional(*frame);
  }
  if (frame->kind != FrameKind::kFailed) {
    return absl::InvalidArgumentError(
        absl::StrCat("peer sent a frame ", to_text(frame->kind), " beside a circuit that goes over RDMA"));
  }
  whole = fill(kFrameHeaderBytes + frame->payload);
  if (!whole.ok()) return whole.status();
  if (!*whole) return std::nullopt;
  const char* text = reinterpret_cast<const char*>(&staging_[kFrameHeaderBytes]);
  return received_failure(scope_of(*frame), printable(std::string_view(text, frame->payload)));
}

void TcpLifeline::leave(std::span<const Frame> last, const std::optional<Failure>& failure) {
  std::vector<std::byte> bytes_to_send;
  for (const Frame& frame : last) {
    const FrameBytes bytes = encode_frame(frame);
    bytes_to_send.insert(bytes_to_send.end(), bytes.begin(), bytes.end());
  }
  if (failure) {
    const absl::string_view reason = failure->reason.substr(0, kMaxFailureText);
    const FrameBytes header = encode_frame(failed_frame(static_cast<std::uint32_t>(reason.size()), failure->scope));
    bytes_to_send.insert(bytes_to_send.end(), header.begin(), header.end());
    const auto text = std::as_bytes(std::span(reason.data(), reason.size()));
    bytes_to_send.insert(bytes_to_send.end(), text.begin(), text.end());
  }
  // The first bytes here since the set-up, so the send buffer has room; a failure means that the peer is gone.
  static_cast<void>(::send(socket_.get(), bytes_to_send.data(), bytes_to_send.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
  ::shutdown(socket_.get(), SHUT_WR);
}

}  // namespace cableway::host
