#include "core/linux/session/session_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/linux/session/local_socket.h"
#include "core/linux/session/session_dialer.h"
#include "core/linux/session/socket_folder.h"

namespace cableway::host {
namespace {

// Users may search the folder for the socket that they know, but not list it.
constexpr mode_t kSharedFolderMode = 0711;
constexpr mode_t kOwnFolderMode = 0700;
// A node that starts listens at its name this soon after it has bound it.
constexpr std::chrono::milliseconds kListenLimit{200};

ino_t inode_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

absl::Status runs_already() {
  return absl::AlreadyExistsError("a node of this cluster and runtime dir already runs in this network namespace");
}

// nullopt: the name is taken.
absl::StatusOr<std::optional<UniqueFd>> listen_at_name(const std::string& name) {
  absl::StatusOr<UniqueFd> socket = open_local_socket();
  if (!socket.ok()) return socket.status();
  const auto endpoint = abstract_endpoint(name);
  if (::bind(socket->get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    if (errno == EADDRINUSE) return std::nullopt;
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot bind the session socket @", name));
  }
  if (::listen(socket->get(), SOMAXCONN) != 0) return absl::ErrnoToStatus(errno, "cannot open the session socket");
  return std::optional(*std::move(socket));
}

// Takes the name, or learns who holds it.
absl::Status take_name(const std::string& name, SessionListeners& listeners) {
  const auto end = std::chrono::steady_clock::now() + kListenLimit;
  for (;;) {
    absl::StatusOr<std::optional<UniqueFd>> socket = listen_at_name(name);
    if (!socket.ok()) return socket.status();
    if (socket->has_value()) {
      listeners.all.push_back({**std::move(socket)});
      return absl::OkStatus();
    }
    const absl::StatusOr<UniqueFd> holder = connect_local(abstract_endpoint(name));
    if (holder.ok()) {
      const std::optional<ucred> process = peer_of(holder->get());
      if (process && process->uid == ::geteuid()) return runs_already();
      listeners.name_held_by = process ? to_text(*process) : "an unknown user";
      return absl::OkStatus();
    }
    if (!absl::IsNotFound(holder.status()) || std::chrono::steady_clock::now() >= end) {
      listeners.name_held_by = "a process that accepts no connection";
      return absl::OkStatus();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

struct Place {
  mode_t folder_mode;
  mode_t socket_mode;
  gid_t group;
  bool shared;
};

absl::Status listen_at_path(const std::string& path, const Place& place, SessionListeners& listeners) {
  const std::size_t slash = path.rfind('/');
  const auto folder = LockedSocketFolder::open(path.substr(0, slash), place.folder_mode);
  if (!folder.ok()) return folder.status();
  folder->sweep();
  absl::StatusOr<UniqueFd> socket = folder->listen(path.substr(slash + 1), place.socket_mode, place.group);
  if (absl::IsAlreadyExists(socket.status())) return runs_already();
  if (!socket.ok()) return socket.status();
  listeners.all.push_back({*std::move(socket), place.shared, SocketPath(path)});
  return absl::OkStatus();
}

Place shared_place(const SessionGroup& with) {
  if (with.everyone) return {kSharedFolderMode, 0666, static_cast<gid_t>(-1), true};
  // The group that the process has need not be root's.
  if (!with.group) return {kSharedFolderMode, 0600, static_cast<gid_t>(-1), true};
  return {kSharedFolderMode, 0660, *with.group, true};
}

absl::Status listen_in_own_folder(const std::vector<std::string>& paths, const std::string& name,
                                  SessionListeners& listeners) {
  std::vector<std::string> reasons = {absl::StrCat(listeners.name_held_by, " holds the abstract session name @", name)};
  for (const std::string& path : paths) {
    absl::Status status = listen_at_path(path, {kOwnFolderMode, 0600, static_cast<gid_t>(-1), false}, listeners);
    if (status.ok() || absl::IsAlreadyExists(status)) return status;
    reasons.emplace_back(status.message());
  }
  return absl::FailedPreconditionError(absl::StrCat(absl::StrJoin(reasons, "; "),
                                                    ": end that process, or remove one "
                                                    "of the folders, or set another CABLEWAY_RUNTIME_DIR"));
}

}  // namespace

SocketPath::SocketPath(std::string path) : path_(std::move(path)), inode_(inode_of(path_)) {}

SocketPath::SocketPath(SocketPath&& other) noexcept : path_(std::exchange(other.path_, {})), inode_(other.inode_) {}

SocketPath::~SocketPath() {
  if (!path_.empty() && inode_of(path_) == inode_) ::unlink(path_.c_str());
}

absl::StatusOr<SessionListeners> open_session_listeners(const SessionNames& names,
                                                        const std::optional<SessionGroup>& shared_with) {
  const absl::StatusOr<UniqueFd> running = dial_node(names);
  if (running.ok()) return runs_already();
  if (!absl::IsNotFound(running.status())) return running.status();
  SessionListeners listeners;
  // Before the name: a process that finds root's name and no path is told that it lacks a mount.
  if (shared_with) {
    absl::Status status = listen_at_path(names.shared, shared_place(*shared_with), listeners);
    if (!status.ok()) return status;
  }
  absl::Status status = take_name(names.own, listeners);
  if (status.ok() && !shared_with && !listeners.name_held_by.empty())
    status = listen_in_own_folder(names.standby, names.own, listeners);
  if (!status.ok()) return status;
  // Closed in this order, so that the name does not outlast the path.
  return SessionListeners{
      {std::make_move_iterator(listeners.all.rbegin()), std::make_move_iterator(listeners.all.rend())},
      std::move(listeners.name_held_by)};
}

}  // namespace cableway::host
