// Local stream sockets (unix(7)), and who is behind them.
#ifndef CABLEWAY_CORE_LINUX_SESSION_LOCAL_SOCKET_H_
#define CABLEWAY_CORE_LINUX_SESSION_LOCAL_SOCKET_H_

#include <sys/socket.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// Not inherited by children, and non-blocking.
absl::StatusOr<UniqueFd> open_local_socket();

// Does not block. NotFound: no process listens there. PermissionDenied: the socket's mode excludes this user.
// Unavailable: anything else, such as a full backlog.
absl::StatusOr<UniqueFd> connect_local(const boost::asio::local::stream_protocol::endpoint& endpoint);

// The process at the other end, as the kernel noted it when that end began to listen or connected.
std::optional<ucred> peer_of(int socket);

// "user 1000 (process 4711)"
std::string to_text(const ucred& process);

// Whether a process listens at the path, or may: only a refused connection says that none does.
bool is_listening(const std::string& path);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_LOCAL_SOCKET_H_
