#include "tools/collperf/frame_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace cableway::collperf {
namespace {

constexpr std::size_t kHeaderBytes = 5;

std::uint32_t length_of(const std::string& received) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    length |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(received[i])) << (8 * i);
  }
  return length;
}

std::string encode(FrameType type, const std::string& payload) {
  std::string frame;
  frame.reserve(kHeaderBytes + payload.size());
  for (int shift = 0; shift < 32; shift += 8) frame.push_back(static_cast<char>(payload.size() >> shift));
  frame.push_back(static_cast<char>(type));
  return frame + payload;
}

// poll() for `events` until `deadline`; false when it passed.
bool wait_until(int fd, short events, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd entry{fd, events, 0};
  return left > 0 && poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) >= 0;
}

}  // namespace

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) close(fd_);
}

FrameSocket::FrameSocket(OwnedFd fd, std::uint32_t payload_limit) : fd_(std::move(fd)), payload_limit_(payload_limit) {
  fcntl(fd_.get(), F_SETFL, fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

absl::Status FrameSocket::send(FrameType type, const std::string& payload, Clock::time_point deadline) {
  if (payload.size() > kFrameLimit) {
    return absl::ResourceExhaustedError(absl::StrCat("a rendezvous message of ", payload.size(), " bytes is over ",
                                                     kFrameLimit, ": use fewer ranks or channels"));
  }
  const std::string frame = encode(type, payload);
  std::size_t sent = 0;
  while (sent < frame.size()) {
    const ssize_t n = ::send(fd_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
      return absl::UnavailableError(absl::StrCat("cannot send: ", std::generic_category().message(errno)));
    } else if (!wait_until(fd_.get(), POLLOUT, deadline)) {
      return absl::DeadlineExceededError("the peer does not read");
    }
  }
  return absl::OkStatus();
}

absl::Status FrameSocket::check_header() const {
  if (received_.size() < kHeaderBytes) return absl::OkStatus();
  const std::uint8_t type = static_cast<std::uint8_t>(received_[4]);
  if (length_of(received_) > payload_limit_ || type < static_cast<std::uint8_t>(FrameType::kHello) ||
      type > static_cast<std::uint8_t>(FrameType::kAlive)) {
    return absl::InvalidArgumentError("it does not use collperf's rendezvous protocol");
  }
  return absl::OkStatus();
}

absl::Status FrameSocket::pump() {
  std::array<char, 65536> buffer;
  while (received_.size() <= kHeaderBytes + payload_limit_) {
    if (absl::Status status = check_header(); !status.ok()) return status;
    const ssize_t n = recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (n > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(n));
      last_heard_ = Clock::now();
    } else if (n == 0) {
      return absl::UnavailableError("it closed the connection");
    } else if (errno == EAGAIN) {
      return absl::OkStatus();
    } else if (errno != EINTR) {
      return absl::UnavailableError(std::generic_category().message(errno));
    }
  }
  return check_header();
}

std::optional<FrameType> FrameSocket::next() const {
  if (received_.size() < kHeaderBytes || received_.size() - kHeaderBytes < length_of(received_)) return std::nullopt;
  return static_cast<FrameType>(received_[4]);
}

std::optional<Frame> FrameSocket::take() {
  const std::optional<FrameType> type = next();
  if (!type.has_value() || !check_header().ok()) return std::nullopt;
  const std::size_t length = length_of(received_);
  Frame frame{*type, received_.substr(kHeaderBytes, length)};
  received_.erase(0, kHeaderBytes + length);
  return frame;
}

void FrameSocket::shutdown() {
  ::shutdown(fd_.get(), SHUT_WR);
}

void wait_readable(const std::vector<int>& fds, std::chrono::milliseconds limit) {
  std::vector<pollfd> entries;
  entries.reserve(fds.size());
  for (int fd : fds) entries.push_back({fd, POLLIN, 0});
  poll(entries.data(), entries.size(), static_cast<int>(std::max<std::int64_t>(limit.count(), 0)));
}

}  // namespace cableway::collperf
