#include "core/linux/control/socket_address.h"

#include <netinet/in.h>

#include <cstring>

namespace cableway::host {

SocketAddress socket_address(const routing::PortAddress& address, PortId interface, std::uint16_t ip_port) {
  SocketAddress result;
  if (address.is_ipv6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(ip_port);
    std::memcpy(&v6.sin6_addr, address.bytes.data(), sizeof v6.sin6_addr);
    // The kernel requires a scope for link-local addresses, and binds the socket to that interface.
    const bool is_group = address.bytes[0] == 0xff;
    if (is_group || address.is_ipv6_link_local()) v6.sin6_scope_id = interface;
    std::memcpy(&result.storage, &v6, sizeof v6);
    result.size = sizeof v6;
  } else {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(ip_port);
    std::memcpy(&v4.sin_addr, address.bytes.data(), sizeof v4.sin_addr);
    std::memcpy(&result.storage, &v4, sizeof v4);
    result.size = sizeof v4;
  }
  return result;
}

}  // namespace cableway::host
