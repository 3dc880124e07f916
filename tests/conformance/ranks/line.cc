#include "tests/conformance/ranks/line.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "core/linux/os/uninterrupted.h"

namespace cableway::nccl::test {

std::pair<Line, Line> Line::make() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  const timeval limit{.tv_sec = 60, .tv_usec = 0};
  for (const int end : ends) {
    ::setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }
  return {Line(ends[0]), Line(ends[1])};
}

void Line::send(const std::string& message) {
  const ssize_t sent =
      host::uninterrupted([&] { return ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL); });
  if (sent != static_cast<ssize_t>(message.size())) throw std::runtime_error("the other process does not receive");
}

std::string Line::receive() {
  std::string message(65536, '\0');
  const ssize_t got = host::uninterrupted([&] { return ::recv(socket_.get(), message.data(), message.size(), 0); });
  if (got <= 0) throw std::runtime_error(got == 0 ? "the other process is gone" : "the other process sends nothing");
  message.resize(static_cast<std::size_t>(got));
  return message;
}

}  // namespace cableway::nccl::test
