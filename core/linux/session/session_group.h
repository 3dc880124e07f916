// The group whose users may open sessions with a system node, and the names of users and groups for messages.
// Callable from any thread.
#ifndef CABLEWAY_CORE_LINUX_SESSION_SESSION_GROUP_H_
#define CABLEWAY_CORE_LINUX_SESSION_SESSION_GROUP_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cableway::host {

// The group that a system node uses if CABLEWAY_SESSION_GROUP is not set.
inline constexpr char kDefaultSessionGroup[] = "cableway";
// CABLEWAY_SESSION_GROUP for every user of the host.
inline constexpr char kEveryUser[] = "*";

// Besides root, which may always.
struct SessionGroup {
  bool everyone = false;
  std::optional<gid_t> group;  // not set: no other user
};

// `setting`: a group's name or number, kEveryUser, or "": kDefaultSessionGroup if there is such a group, else root
// alone. FailedPrecondition: there is no such group, or the groups of the host cannot be read.
absl::StatusOr<SessionGroup> find_session_group(const std::string& setting);

struct GroupEntry {
  std::string name;
  gid_t number = 0;
  std::vector<std::string> members;  // those that the group lists, without users that have it as their first group
};
// nullopt: there is none.
absl::StatusOr<std::optional<GroupEntry>> find_group(const std::string& name);
absl::StatusOr<std::optional<GroupEntry>> find_group(gid_t number);

// The user's name, or the number as text if there is none.
std::string user_name(uid_t user);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_SESSION_SESSION_GROUP_H_
