// The sockets where a node listens for sessions. A process that holds them is the node of its network namespace: root
// has one there, and each other user at most one.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SESSION_LISTENER_H_
#define CABLEWAY_CORE_LINUX_SESSION_SESSION_LISTENER_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/os/unique_fd.h"
#include "core/linux/session/session_group.h"
#include "core/linux/session/session_names.h"

namespace cableway::host {

// Owns a socket's path. The destructor removes the path unless another socket has replaced it.
class SocketPath {
 public:
  explicit SocketPath(std::string path);
  SocketPath(SocketPath&& other) noexcept;
  SocketPath& operator=(SocketPath&&) = delete;
  ~SocketPath();

 private:
  std::string path_;
  ino_t inode_ = 0;
};

struct SessionListener {
  UniqueFd socket;
  // True: the socket's mode decides who may connect. False: the server serves only its own user and root.
  bool shared = false;
  std::optional<SocketPath> path = std::nullopt;  // not set: in the abstract namespace
};

struct SessionListeners {
  std::vector<SessionListener> all;
  // Who holds the name of this user's node instead; "": this process does.
  std::string name_held_by;
};

// `shared_with`: set for a system node, which listens at names.shared for that group. Any other node listens in a
// folder of its user if another user holds its name. Blocks for some seconds at most.
//
// AlreadyExists: a node runs here that this user would use. Otherwise errors as in dial_node() and
// LockedSocketFolder::open(); that another user holds the name is not an error.
absl::StatusOr<SessionListeners> open_session_listeners(const SessionNames& names,
                                                        const std::optional<SessionGroup>& shared_with);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SESSION_LISTENER_H_
