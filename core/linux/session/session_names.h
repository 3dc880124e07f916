// The names of the sockets where nodes of this network namespace and their applications meet.
//
// Every node listens at its user's name in the abstract namespace and serves there only its own user and root; a client
// uses that name only if the process behind it runs as the client's user. A system node, which is root's, listens at a
// path too, where the socket's group decides which users it serves. docs/decisions/0027-session-socket.md has the
// reasons.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SESSION_NAMES_H_
#define CABLEWAY_CORE_LINUX_SESSION_SESSION_NAMES_H_

#include <sys/types.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/settings/settings.h"

namespace cableway::host {

struct SessionNames {
  // Path of a system node's socket: <session dir>/<cluster>,<runtime dir>,<network namespace>.
  std::string shared;
  // In the abstract namespace, which belongs to the network namespace: cableway/<user>/<cluster>/<runtime dir>, of this
  // process's user and of root.
  std::string own;
  std::string roots;
  // Paths in folders that belong to this user alone, in the order in which a node tries them if another user holds
  // `own`.
  std::vector<std::string> standby;
};

// InvalidArgument: check_session_names(). Unavailable: the kernel does not tell the network namespace.
absl::StatusOr<SessionNames> session_names(const Settings& settings);
// The same for user `user`, whose folders are below the ones given.
absl::StatusOr<SessionNames> session_names(const Settings& settings, uid_t user,
                                           const std::vector<std::string>& user_folders);

// InvalidArgument: a name would be too long for a socket. Does not depend on the user or the network namespace.
absl::Status check_session_names(const Settings& settings);

boost::asio::local::stream_protocol::endpoint abstract_endpoint(const std::string& name);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SESSION_NAMES_H_
