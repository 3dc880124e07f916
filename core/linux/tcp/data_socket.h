// Options of every data socket, connecting or accepting.
#ifndef CABLEWAY_CORE_LINUX_TCP_DATA_SOCKET_H_
#define CABLEWAY_CORE_LINUX_TCP_DATA_SOCKET_H_

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace cableway::host {

// Kernel buffers have a fixed size, in bytes as passed to setsockopt, so that the memory per circuit is bounded in
// advance. Connections on one cable share it in proportion to their windows, so the receive buffer is the same at
// relays and flow ends, and never changes: shrinking it would drop data that the window has promised to accept.
inline constexpr int kReceiveBufferBytes = 512 << 10;
inline constexpr int kSendBufferBytes = 2 << 20;

// Fixes one of a socket's buffers at `bytes`. If net.core.{w,r}mem_max does not allow this user that size, as with
// many systems' defaults, the kernel continues to size that buffer itself, within net.ipv4.tcp_{w,r}mem: the fixed
// size would be a fraction of what a fast cable needs.
absl::Status set_send_buffer(int socket, int bytes);
absl::Status set_receive_buffer(int socket, int bytes);

// The kernel memory used by written data that is not acknowledged yet, including overhead, in bytes. 0 before Linux
// 4.12.
std::uint64_t unsent_memory(int socket);

// After about this many seconds, keepalive detects that a host has died silently while nothing was in flight.
inline constexpr int kSilenceLimitSeconds = 8;

// Call before connect() or listen(), since TCP negotiates its window from these. Sets the buffers, no Nagle delay,
// keepalive, close-on-exec, and loss-based congestion control: a cable has no cross traffic to be modelled, and BBR's
// pacing leaves it idle most of the time (docs/decisions/0005).
absl::Status prepare_data_socket(int socket);

// Whether retransmissions or window probes have gone unanswered five times in a row, which takes about 6 s: the peer's
// *host* is gone or the cable is cut. If a peer application merely does not read, its kernel answers and the connection
// never stalls.
bool connection_stalled(int socket);
// Unavailable if it has stalled.
absl::Status check_silence(int socket);

// An IP literal, with %scope for link-local addresses. InvalidArgument names the text.
absl::StatusOr<boost::asio::ip::address> parse_address(const std::string& text);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_TCP_DATA_SOCKET_H_
