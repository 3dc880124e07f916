// A folder whose only purpose is to hold session sockets, such that no other user can put a socket there.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SOCKET_FOLDER_H_
#define CABLEWAY_CORE_LINUX_SESSION_SOCKET_FOLDER_H_

#include <sys/types.h>

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "core/linux/os/unique_fd.h"

namespace cableway::host {

// OK: `path` is a socket of root or of this process's user, in a folder of one of the two that nobody else can write;
// neither the folder nor the socket is a symbolic link. NotFound: the folder or the socket does not exist.
// PermissionDenied: the folder may not be searched. FailedPrecondition: anything else, with the reason.
absl::Status check_socket_path(const std::string& path);

// The folder, with its lock held: sockets are made and removed under it. Another user cannot take the lock.
class LockedSocketFolder {
 public:
  // Creates the folder with `mode`, and not those above, if it does not exist. FailedPrecondition: it cannot be
  // created, is a link, belongs to another user, or others can write it; the message names the folder.
  // DeadlineExceeded: another node holds the lock for longer than `patience`.
  static absl::StatusOr<LockedSocketFolder> open(const std::string& path, mode_t mode,
                                                 std::chrono::milliseconds patience = std::chrono::seconds(5));

  // Removes the sockets where no process listens, as those of killed nodes.
  void sweep() const;
  // A socket that listens at `name`, with this mode and, if it is not -1, this group. AlreadyExists: a process listens
  // there. FailedPrecondition: there is something else.
  absl::StatusOr<UniqueFd> listen(const std::string& name, mode_t mode, gid_t group) const;

 private:
  LockedSocketFolder(std::string path, UniqueFd folder, UniqueFd lock)
      : path_(std::move(path)), folder_(std::move(folder)), lock_(std::move(lock)) {}
  absl::Status bind_and_listen(const UniqueFd& socket, const std::string& name, mode_t mode, gid_t group) const;

  std::string path_;
  UniqueFd folder_;
  UniqueFd lock_;
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SOCKET_FOLDER_H_
