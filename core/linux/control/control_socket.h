// The sockets of the control channel, and one datagram in or out of them.
#ifndef CABLEWAY_CORE_LINUX_CONTROL_CONTROL_SOCKET_H_
#define CABLEWAY_CORE_LINUX_CONTROL_CONTROL_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "absl/status/statusor.h"
#include "core/discovery/port_inventory.h"
#include "core/linux/os/unique_fd.h"
#include "routing/topology/port_address.h"

namespace cableway::host {

// Every datagram leaves with this TTL or hop limit, and none that arrives with less is taken: it was routed, since any
// router takes one off (RFC 5082, GTSM).
inline constexpr int kControlTtl = 255;

// Where hellos go: 224.0.0.177, in the block that no router forwards (RFC 5771) and there among those that IANA has
// assigned to nobody; and ff12::cb:7471, transient and of link-local scope (RFC 4291).
routing::PortAddress hello_group(bool is_ipv6);

// For datagrams from and to one of this host's addresses. AlreadyExists: another process has the port. Both functions
// say what could not be done and why.
absl::StatusOr<UniqueFd> open_control_socket(const routing::PortAddress& own, PortId interface, std::uint16_t udp_port);
// For datagrams to the group that arrive at one interface. Several processes may have one each.
absl::StatusOr<UniqueFd> open_hello_socket(bool is_ipv6, PortId interface, std::uint16_t udp_port);

// From `own` through `interface`, whatever the routes say. 0, or the errno.
int send_datagram(int socket, PortId interface, const routing::PortAddress& own, const routing::PortAddress& to,
                  std::uint16_t udp_port, std::span<const std::byte> bytes);

struct Arrival {
  std::size_t bytes = 0;
  bool truncated = false;     // it was larger than the buffer
  routing::PortAddress from;  // without a scope
  std::uint16_t from_port = 0;
  PortId interface = 0;  // 0: the kernel did not say
  int ttl = 0;
};

// The next datagram, or the errno: EAGAIN where there is none.
std::variant<Arrival, int> receive_datagram(int socket, std::span<std::byte> buffer);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_CONTROL_CONTROL_SOCKET_H_
