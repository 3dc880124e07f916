#include "tests/core/linux/loopback_sockets.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

namespace cableway::host::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// So that a test that waits in vain ends with a message instead of a time-out of its runner.
void limit_waiting(int socket) {
  const timeval limit{100, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

void set_buffers(int socket, int bytes) {
  if (bytes == 0) return;
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

UniqueFd new_socket() {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  limit_waiting(socket.get());
  return socket;
}

}  // namespace

Listener listen_on_loopback(int backlog) {
  return listen_on_loopback_port(0, backlog);
}

Listener listen_on_loopback_port(std::uint16_t port, int backlog) {
  Listener listener{new_socket(), 0};
  const int on = 1;
  ::setsockopt(listener.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = loopback(port);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener.socket.get(), backlog), 0);
  EXPECT_EQ(::getsockname(listener.socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  listener.port = ntohs(address.sin_port);
  return listener;
}

UniqueFd connect_to(std::uint16_t port) {
  UniqueFd socket = new_socket();
  const sockaddr_in to = loopback(port);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << std::strerror(errno);
  return socket;
}

UniqueFd accept_from(const Listener& listener) {
  UniqueFd socket(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(socket.valid()) << std::strerror(errno);
  limit_waiting(socket.get());
  return socket;
}

std::pair<UniqueFd, UniqueFd> connected_pair(int buffer_bytes) {
  const Listener listener = listen_on_loopback();
  set_buffers(listener.socket.get(), buffer_bytes);
  UniqueFd near = new_socket();
  set_buffers(near.get(), buffer_bytes);
  const sockaddr_in to = loopback(listener.port);
  EXPECT_EQ(::connect(near.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  UniqueFd far = accept_from(listener);
  const int on = 1;
  ::setsockopt(far.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return {std::move(near), std::move(far)};
}

void write_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ASSERT_GT(written, 0) << std::strerror(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void write_all(int socket, const std::string& text) {
  write_all(socket, std::as_bytes(std::span(text)));
}

void write_frame(int socket, const Frame& frame, std::span<const std::byte> payload) {
  write_all(socket, encode_frame(frame));
  write_all(socket, payload);
}

void write_failure(int socket, const std::string& reason, FailureScope scope) {
  write_frame(socket, failed_frame(static_cast<std::uint32_t>(reason.size()), scope), std::as_bytes(std::span(reason)));
}

std::vector<std::byte> read_bytes(int socket, std::size_t bytes) {
  std::vector<std::byte> read(bytes);
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t got = ::recv(socket, read.data() + have, bytes - have, 0);
    if (got == 0) break;
    if (got < 0) {
      ADD_FAILURE() << "read " << have << " of " << bytes << " bytes: " << std::strerror(errno);
      break;
    }
    have += static_cast<std::size_t>(got);
  }
  read.resize(have);
  return read;
}

Frame read_frame(int socket) {
  const std::vector<std::byte> bytes = read_bytes(socket, kFrameHeaderBytes);
  if (bytes.size() < kFrameHeaderBytes) {
    ADD_FAILURE() << "the connection ended after " << bytes.size() << " bytes of a frame";
    return {};
  }
  const absl::StatusOr<Frame> frame =
      decode_frame(std::span<const std::byte, kFrameHeaderBytes>(bytes.data(), kFrameHeaderBytes));
  EXPECT_TRUE(frame.ok()) << frame.status();
  return frame.value_or(Frame{});
}

std::string read_text(int socket, std::size_t bytes) {
  const std::vector<std::byte> read = read_bytes(socket, bytes);
  return std::string(reinterpret_cast<const char*>(read.data()), read.size());
}

bool reads_end(int socket) {
  char byte = 0;
  return ::recv(socket, &byte, 1, 0) == 0;
}

bool run_until(const std::function<bool()>& done, const std::function<void()>& step, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    step();
  }
  return true;
}

}  // namespace cableway::host::test
