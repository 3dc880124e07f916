#include "core/linux/pulse/kernel_probe.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/linux/control/socket_address.h"

namespace cableway::host {

void KernelProbe::ask(PortId interface, const routing::PortAddress& own, const routing::PortAddress& other,
                      std::uint16_t tcp_port, Instant now) {
  if (socket_.valid() && now - asked_ < kPatience) return;
  asked_ = now;
  socket_.reset(::socket(other.is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.valid()) return;
  const auto index = static_cast<int>(interface);
  const linger drop_at_once{1, 0};  // so that close() resets the connection if a process listens there
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &drop_at_once, sizeof drop_at_once);
  const SocketAddress here = socket_address(own, interface, 0);
  const SocketAddress there = socket_address(other, interface, tcp_port);
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_BINDTOIFINDEX, &index, sizeof index) == 0 &&
      ::bind(socket_.get(), here.get(), here.size) == 0 &&
      (::connect(socket_.get(), there.get(), there.size) == 0 || errno == EINPROGRESS)) {
    return;
  }
  socket_.reset();
}

bool KernelProbe::answered() {
  if (!socket_.valid()) return false;
  pollfd event{socket_.get(), POLLOUT, 0};
  if (::poll(&event, 1, 0) <= 0) return false;
  int error = 0;
  socklen_t size = sizeof error;
  const bool known = ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0;
  socket_.reset();
  // Other errors may come from this host, such as EHOSTUNREACH when the neighbour's link address is not found.
  return known && (error == 0 || error == ECONNREFUSED);
}

}  // namespace cableway::host
