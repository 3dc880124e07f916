// The address of a port of this host or of a neighbour, as the kernel takes it.
#ifndef CABLEWAY_CORE_LINUX_CONTROL_SOCKET_ADDRESS_H_
#define CABLEWAY_CORE_LINUX_CONTROL_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>

#include "core/ports/port_inventory.h"
#include "routing/topology/port_address.h"

namespace cableway::host {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// `interface`: the scope of a link-local address or group. `ip_port`: of UDP or TCP.
SocketAddress socket_address(const routing::PortAddress& address, PortId interface, std::uint16_t ip_port);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_CONTROL_SOCKET_ADDRESS_H_
