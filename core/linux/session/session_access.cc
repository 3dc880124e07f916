#include "core/linux/session/session_access.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/linux/session/session_group.h"
#include "core/linux/session/socket_folder.h"

namespace cableway::host {
namespace {

// Whether the host's files list the user in the group, also as its first group.
bool lists(const GroupEntry& group, const std::string& user) {
  if (std::find(group.members.begin(), group.members.end(), user) != group.members.end()) return true;
  std::vector<char> texts(16384);
  passwd entry{};
  passwd* found = nullptr;
  const int error = ::getpwnam_r(user.c_str(), &entry, texts.data(), texts.size(), &found);
  return error == 0 && found != nullptr && found->pw_gid == group.number;
}

void read_group(gid_t number, SessionAccess& access) {
  access.group = absl::StrCat(number);
  const absl::StatusOr<std::optional<GroupEntry>> group = find_group(number);
  if (!group.ok() || !group->has_value()) return;
  access.group = (*group)->name;
  access.members = (*group)->members.size();
  access.is_member = lists(**group, access.user);
}

}  // namespace

SessionAccess read_session_access(const std::string& socket) {
  SessionAccess access;
  access.user = user_name(::geteuid());
  struct stat status {};
  if (!check_socket_path(socket).ok() || ::lstat(socket.c_str(), &status) != 0) return access;
  access.has_socket = true;
  access.everyone = (status.st_mode & S_IWOTH) != 0;
  if (!access.everyone && (status.st_mode & S_IWGRP) != 0) read_group(status.st_gid, access);
  return access;
}

std::string admitted_text(const SessionAccess& access) {
  if (access.everyone) return "every user";
  if (access.group.empty()) return "only root";
  return absl::StrCat("root and group ", access.group, " (", access.members,
                      access.members == 1 ? " member)" : " members)");
}

std::string admission_advice(const SessionAccess& access) {
  if (access.group.empty()) {
    return absl::StrCat("sudo groupadd --system --force ", kDefaultSessionGroup, "; sudo usermod -aG ",
                        kDefaultSessionGroup, " ", access.user,
                        "; restart cablewayd, which uses that group unless CABLEWAY_SESSION_GROUP names another; "
                        "log in again");
  }
  if (access.is_member) {
    return absl::StrCat("log in again: this login is older than the membership in group ", access.group,
                        "; or, in this shell: newgrp ", access.group);
  }
  return absl::StrCat("sudo usermod -aG ", access.group, " ", access.user, "; log in again");
}

}  // namespace cableway::host
