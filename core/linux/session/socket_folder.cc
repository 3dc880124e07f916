#include "core/linux/session/socket_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/session/local_socket.h"

namespace cableway::host {
namespace {

constexpr char kLockName[] = "lock";
// A folder of sockets has few entries; a sweep looks at no more.
constexpr int kMaxSwept = 4096;

absl::Status cannot(absl::string_view what, const std::string& path, int error) {
  const std::string text = absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == EACCES) return absl::PermissionDeniedError(text);
  return absl::FailedPreconditionError(text);
}

bool is_trusted(uid_t owner) {
  return owner == 0 || owner == ::geteuid();
}

absl::Status check_owner(const std::string& what, const struct stat& status) {
  if (is_trusted(status.st_uid)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(what, " belongs to user ", status.st_uid, "; expected root or user ", ::geteuid()));
}

// O_PATH, since a client may search the folder but not list it.
absl::StatusOr<UniqueFd> open_folder(const std::string& path, int flags) {
  UniqueFd folder(::open(path.c_str(), flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const int error = errno;
  struct stat status {};
  if (!folder.valid()) {
    // O_DIRECTORY reports a link as "not a directory".
    const bool is_link = ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
    if (is_link) return absl::FailedPreconditionError(absl::StrCat(path, " is a symbolic link; expected a folder"));
    return cannot("open folder", path, error);
  }
  if (::fstat(folder.get(), &status) != 0) return cannot("inspect folder", path, errno);
  if (absl::Status owner = check_owner(absl::StrCat("folder ", path), status); !owner.ok()) return owner;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("folder ", path,
                                                      " can be written by other users; expected only its owner: "
                                                      "chmod go-w ",
                                                      path));
  }
  return folder;
}

absl::StatusOr<UniqueFd> lock_folder(const UniqueFd& folder, const std::string& path,
                                     std::chrono::milliseconds patience) {
  const std::string name = absl::StrCat(path, "/", kLockName);
  UniqueFd lock(::openat(folder.get(), kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.valid()) return cannot("open lock", name, errno);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return cannot("lock", name, errno);
    if (std::chrono::steady_clock::now() >= end) {
      return absl::DeadlineExceededError(absl::StrCat("another node has held the lock ", name, " for more than ",
                                                      patience.count(), " ms during its start: stop it"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return lock;
}

}  // namespace

absl::Status check_socket_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  absl::StatusOr<UniqueFd> folder = open_folder(path.substr(0, slash), O_PATH);
  if (!folder.ok()) return folder.status();
  struct stat status {};
  if (::fstatat(folder->get(), path.c_str() + slash + 1, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return cannot("find socket", path, errno);
  }
  if (!S_ISSOCK(status.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is not a socket; expected a node's session socket"));
  }
  return check_owner(absl::StrCat("socket ", path), status);
}

absl::StatusOr<LockedSocketFolder> LockedSocketFolder::open(const std::string& path, mode_t mode,
                                                            std::chrono::milliseconds patience) {
  const bool created = ::mkdir(path.c_str(), mode) == 0;
  if (!created && errno != EEXIST) {
    return absl::FailedPreconditionError(absl::StrCat("cannot create folder ", path, ": ", std::strerror(errno)));
  }
  absl::StatusOr<UniqueFd> folder = open_folder(path, O_RDONLY);
  if (!folder.ok()) return absl::FailedPreconditionError(folder.status().message());
  // Without the process's umask.
  if (created && ::fchmod(folder->get(), mode) != 0) return cannot("set the mode of folder", path, errno);
  absl::StatusOr<UniqueFd> lock = lock_folder(*folder, path, patience);
  if (!lock.ok()) return lock.status();
  return LockedSocketFolder(path, *std::move(folder), *std::move(lock));
}

void LockedSocketFolder::sweep() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::opendir(path_.c_str()), ::closedir);
  for (int seen = 0; list != nullptr && seen < kMaxSwept; ++seen) {
    const dirent* const entry = ::readdir(list.get());
    if (entry == nullptr) return;
    struct stat status {};
    if (::fstatat(folder_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISSOCK(status.st_mode) || is_listening(absl::StrCat(path_, "/", entry->d_name))) continue;
    ::unlinkat(folder_.get(), entry->d_name, 0);
  }
}

absl::StatusOr<UniqueFd> LockedSocketFolder::listen(const std::string& name, mode_t mode, gid_t group) const {
  const std::string path = absl::StrCat(path_, "/", name);
  struct stat status {};
  if (::fstatat(folder_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISSOCK(status.st_mode)) {
      return absl::FailedPreconditionError(absl::StrCat(path, " is not a socket: remove it"));
    }
    if (is_listening(path)) return absl::AlreadyExistsError(absl::StrCat("a node listens at ", path));
    if (::unlinkat(folder_.get(), name.c_str(), 0) != 0) return cannot("remove the stale socket", path, errno);
  }
  absl::StatusOr<UniqueFd> socket = open_local_socket();
  if (!socket.ok()) return socket.status();
  if (absl::Status done = bind_and_listen(*socket, name, mode, group); !done.ok()) {
    ::unlinkat(folder_.get(), name.c_str(), 0);
    return done;
  }
  return socket;
}

// Nobody can connect before the socket listens, so no one does who may not.
absl::Status LockedSocketFolder::bind_and_listen(const UniqueFd& socket, const std::string& name, mode_t mode,
                                                 gid_t group) const {
  const std::string path = absl::StrCat(path_, "/", name);
  const boost::asio::local::stream_protocol::endpoint endpoint(path);
  if (::bind(socket.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    return cannot("bind socket", path, errno);
  }
  constexpr auto kNobody = static_cast<uid_t>(-1);
  if (::fchownat(folder_.get(), name.c_str(), kNobody, group, AT_SYMLINK_NOFOLLOW) != 0) {
    return cannot(absl::StrCat("set group ", group, " of socket"), path, errno);
  }
  if (::fchmodat(folder_.get(), name.c_str(), mode, 0) != 0) return cannot("set the mode of", path, errno);
  if (::listen(socket.get(), SOMAXCONN) != 0) return cannot("listen at", path, errno);
  return absl::OkStatus();
}

}  // namespace cableway::host
