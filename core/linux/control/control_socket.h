// The sockets of the control channel, and sending and receiving of single datagrams.
#ifndef CABLEWAY_CORE_LINUX_CONTROL_CONTROL_SOCKET_H_
#define CABLEWAY_CORE_LINUX_CONTROL_CONTROL_SOCKET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "core/linux/os/unique_fd.h"
#include "core/ports/port_inventory.h"
#include "routing/topology/port_address.h"

namespace cableway::host {

// Every datagram is sent with this TTL or hop limit. One that arrives with less is rejected: it was routed, since each
// router decrements it (RFC 5082, GTSM).
inline constexpr int kControlTtl = 255;

// Destination of hellos: 224.0.0.177, in the block that routers do not forward (RFC 5771) and there among the addresses
// that IANA has not assigned; and ff12::cb:7471, transient and of link-local scope (RFC 4291).
routing::PortAddress hello_group(bool is_ipv6);

// For datagrams from and to one of this host's addresses. AlreadyExists: another process has bound the port. The status
// of both functions names the failed operation and the reason.
absl::StatusOr<UniqueFd> open_control_socket(const routing::PortAddress& own, PortId interface, std::uint16_t udp_port);
// For datagrams to the group that arrive at one interface. Several processes may each have one.
absl::StatusOr<UniqueFd> open_hello_socket(bool is_ipv6, PortId interface, std::uint16_t udp_port);

// For datagrams between one pair of addresses over one interface, as over a cable; several such sockets may share their
// own address. Once the other host has refused a datagram because no socket there has the port, the next call fails
// with ECONNREFUSED. Other ICMP messages about such datagrams have their own errors. A datagram that a queue of this
// host drops is an error at once (ENOBUFS).
absl::StatusOr<UniqueFd> open_connected_socket(const routing::PortAddress& own, const routing::PortAddress& other,
                                               PortId interface, std::uint16_t udp_port);

// Sends to the other end of a connected socket, in one packet, with don't-fragment set. Returns 0 or the errno, like
// send_datagram().
int send_connected(int socket, std::span<const std::byte> bytes);

// Sends from `own` through `interface`, regardless of the routing table. `whole`: in one packet, with don't-fragment
// set; else the kernel fragments what exceeds the interface's MTU. Returns 0 or the errno: EMSGSIZE if it is too large
// to be whole.
int send_datagram(int socket, PortId interface, const routing::PortAddress& own, const routing::PortAddress& to,
                  std::uint16_t udp_port, std::span<const std::byte> bytes, bool whole);

struct Arrival {
  std::size_t bytes = 0;
  bool truncated = false;     // the datagram was larger than the buffer
  routing::PortAddress from;  // without a scope
  std::uint16_t from_port = 0;
  PortId interface = 0;  // 0: not reported by the kernel
  int ttl = 0;
  // The time in the kernel before this call received the datagram. 0: not reported. Too short for datagrams that
  // arrive just after the host's first socket with timestamps was opened, since the kernel begins to timestamp
  // arrivals in a work queue.
  Duration waited{0};
};

inline constexpr std::size_t kMostAtOnce = 4;  // datagrams of one receive_datagrams()

// To be called after an error of a connected socket other than EAGAIN: the kernel keeps a copy of the datagram that
// an ICMP message was about in the socket's receive buffer. Errors that were not reported yet are discarded as well.
void forget_refused(int socket);

// Returns the number of datagrams or the errno; EAGAIN if there is none. The i-th is at i * stride in the buffer, which
// has kMostAtOnce strides. Fewer than kMostAtOnce: no more were waiting, or the next call returns an error.
std::variant<std::size_t, int> receive_datagrams(int socket, std::span<std::byte> buffer, std::size_t stride,
                                                 std::span<Arrival, kMostAtOnce> arrivals);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_CONTROL_CONTROL_SOCKET_H_
