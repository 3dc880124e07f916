// How every data socket is made, whether it connects or accepts.
#ifndef CABLEWAY_CORE_LINUX_DATA_SOCKET_H_
#define CABLEWAY_CORE_LINUX_DATA_SOCKET_H_

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace cableway::linux_ {

// Kernel buffers have a fixed size, so that memory per circuit has a bound known beforehand: the kernel is asked for
// this much each way and gives at most net.core.{w,r}mem_max. Units: bytes.
inline constexpr int kSocketBufferBytes = 1 << 20;

// A port whose host has died without a word is noticed after this long, in seconds: keepalive when nothing is in
// flight, connection_stalled() when something is.
inline constexpr int kSilenceLimitSeconds = 8;

// Before connect() or listen(), since TCP negotiates its window from these. Sets the buffers, no Nagle delay,
// keepalive, close-on-exec, and loss-based congestion control: a cable has no cross traffic to be modelled, and BBR's
// pacing leaves it idle most of the time (docs/decisions/0005).
absl::Status prepare_data_socket(int socket);

// Whether data in flight on a connection has gone unanswered for kSilenceLimitSeconds: the peer's *host* is gone or
// the cable is cut. A peer application that merely does not read is answered for by its kernel and never stalls.
bool connection_stalled(int socket);

// An IP literal, with %scope for link-local ones. InvalidArgument names it.
absl::StatusOr<boost::asio::ip::address> parse_address(const std::string& text);

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_DATA_SOCKET_H_
