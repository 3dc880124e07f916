// How every data socket is made, whether it connects or accepts.
#ifndef CABLEWAY_CORE_LINUX_TCP_DATA_SOCKET_H_
#define CABLEWAY_CORE_LINUX_TCP_DATA_SOCKET_H_

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace cableway::host {

// Kernel buffers have a fixed size, so that memory per circuit has a bound known beforehand. Bytes, as setsockopt is
// told. Connections that share a cable get shares like their windows, so the receive buffer is the same wherever data
// comes in, at a relay as at a flow's end, and never changes: one that shrinks drops what its window has promised.
inline constexpr int kReceiveBufferBytes = 512 << 10;
inline constexpr int kSendBufferBytes = 2 << 20;

// Fixes one of a socket's buffers at `bytes`. Where net.core.{w,r}mem_max forbids this user so much, and many systems'
// defaults do, the kernel keeps sizing that buffer itself, within net.ipv4.tcp_{w,r}mem: what it would have fixed
// instead is a fraction of what a fast cable needs.
absl::Status set_send_buffer(int socket, int bytes);
absl::Status set_receive_buffer(int socket, int bytes);

// What the kernel counts as taken by data that was written and is not acknowledged yet, its own overhead included.
// Units: bytes. 0 before Linux 4.12.
std::uint64_t unsent_memory(int socket);

// A host that has died without a word is noticed after about this long, in seconds, by keepalive: when nothing is in
// flight.
inline constexpr int kSilenceLimitSeconds = 8;

// Before connect() or listen(), since TCP negotiates its window from these. Sets the buffers, no Nagle delay,
// keepalive, close-on-exec, and loss-based congestion control: a cable has no cross traffic to be modelled, and BBR's
// pacing leaves it idle most of the time (docs/decisions/0005).
absl::Status prepare_data_socket(int socket);

// Whether data in flight on a connection, or a question whether the peer may be sent more, has gone unanswered five
// times in a row, which takes about 6 s: the peer's *host* is gone or the cable is cut. A peer application that merely
// does not read is answered for by its kernel and never stalls.
bool connection_stalled(int socket);
// Unavailable: it has stalled.
absl::Status check_silence(int socket);

// An IP literal, with %scope for link-local ones. InvalidArgument names it.
absl::StatusOr<boost::asio::ip::address> parse_address(const std::string& text);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_DATA_SOCKET_H_
