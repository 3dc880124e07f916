#include "core/linux/session/local_socket.h"

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/own_descriptors.h"

namespace cableway::host {

using boost::asio::local::stream_protocol;

absl::StatusOr<UniqueFd> open_local_socket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return absl::ErrnoToStatus(errno, "cannot open a local socket");
  note_own_socket(socket.get());
  return socket;
}

absl::StatusOr<UniqueFd> connect_local(const stream_protocol::endpoint& endpoint) {
  absl::StatusOr<UniqueFd> socket = open_local_socket();
  if (!socket.ok()) return socket.status();
  // Asio's connect would wait while the backlog is full, as a stopped node's eventually is.
  if (::connect(socket->get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0) return socket;
  const int error = errno;
  if (error == ECONNREFUSED || error == ENOENT) return absl::NotFoundError("no node runs here");
  const std::string text = absl::StrCat("cannot reach the node: ", std::strerror(error));
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(text);
  return absl::UnavailableError(text);
}

std::optional<ucred> peer_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer;
}

std::string to_text(const ucred& process) {
  return absl::StrCat("user ", process.uid, " (process ", process.pid, ")");
}

bool is_listening(const std::string& path) {
  return !absl::IsNotFound(connect_local(stream_protocol::endpoint(path)).status());
}

}  // namespace cableway::host
