#include "core/linux/session/session_dialer.h"

#include <unistd.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/session/local_socket.h"
#include "core/linux/session/session_access.h"
#include "core/linux/session/socket_folder.h"

namespace cableway::host {
namespace {

using boost::asio::local::stream_protocol;

absl::Status not_admitted(const std::string& path) {
  const SessionAccess access = read_session_access(path);
  return absl::PermissionDeniedError(
      absl::StrCat("user ", access.user, " may not open sessions with this host's node: ", admitted_text(access),
                   " may\n", admission_advice(access)));
}

absl::StatusOr<UniqueFd> dial_shared(const std::string& path) {
  if (absl::Status status = check_socket_path(path); !status.ok()) return status;
  absl::StatusOr<UniqueFd> socket = connect_local(stream_protocol::endpoint(path));
  if (absl::IsPermissionDenied(socket.status())) return not_admitted(path);
  if (!socket.ok()) return socket;
  const std::optional<ucred> node = peer_of(socket->get());
  if (node && (node->uid == 0 || node->uid == ::geteuid())) return socket;
  return absl::FailedPreconditionError(absl::StrCat("the node at ", path, " is run by ",
                                                    node ? to_text(*node) : "an unknown user", ", not by root or user ",
                                                    ::geteuid(), ": end it"));
}

// Sets `holder` if another user may hold the name.
absl::StatusOr<UniqueFd> dial_own(const std::string& name, std::string& holder) {
  absl::StatusOr<UniqueFd> socket = connect_local(abstract_endpoint(name));
  if (absl::IsNotFound(socket.status())) return socket;
  if (!socket.ok()) {
    holder = "a process that accepts no connection";
    return absl::NotFoundError("");
  }
  const std::optional<ucred> node = peer_of(socket->get());
  if (node && node->uid == ::geteuid()) return socket;
  holder = node ? to_text(*node) : "an unknown user";
  return absl::NotFoundError("");
}

absl::StatusOr<UniqueFd> dial_standby(const std::string& path) {
  // A folder there that another user has made is not this user's.
  if (!check_socket_path(path).ok()) return absl::NotFoundError("");
  absl::StatusOr<UniqueFd> socket = connect_local(stream_protocol::endpoint(path));
  if (!socket.ok()) return socket;
  const std::optional<ucred> node = peer_of(socket->get());
  if (node && node->uid == ::geteuid()) return socket;
  return absl::NotFoundError("");
}

// A second node would compete with root's for its ports.
absl::Status check_roots(const SessionNames& names) {
  if (names.roots == names.own) return absl::OkStatus();
  const absl::StatusOr<UniqueFd> socket = connect_local(abstract_endpoint(names.roots));
  const std::optional<ucred> node = socket.ok() ? peer_of(socket->get()) : std::nullopt;
  if (!node || node->uid != 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "root's node (process ", node->pid, ") runs in this network namespace, but has no socket at ", names.shared,
      ": in a container, mount the folder of that socket; if a job of root started the node, it serves only root: "
      "start "
      "cablewayd as a service"));
}

}  // namespace

absl::StatusOr<UniqueFd> dial_node(const SessionNames& names) {
  absl::StatusOr<UniqueFd> socket = dial_shared(names.shared);
  if (!absl::IsNotFound(socket.status())) return socket;
  std::string holder;
  socket = dial_own(names.own, holder);
  for (const std::string& path : names.standby) {
    if (absl::IsNotFound(socket.status())) socket = dial_standby(path);
  }
  if (!absl::IsNotFound(socket.status())) return socket;
  if (absl::Status status = check_roots(names); !status.ok()) return status;
  if (holder.empty()) return absl::NotFoundError("no node runs here");
  return absl::NotFoundError(absl::StrCat("no node of this user runs here; ", holder, " holds its name @", names.own));
}

}  // namespace cableway::host
