#include "core/linux/session/session_group.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cableway::host {
namespace {

// A group of many users has a long entry.
constexpr std::size_t kMaxEntryBytes = 1U << 20;

// `look` is getgrnam_r or getgrgid_r with its first argument.
template <typename Look>
absl::StatusOr<std::optional<GroupEntry>> look_up(const std::string& asked, Look look) {
  std::vector<char> texts(4096);
  ::group entry{};
  ::group* found = nullptr;
  int error = 0;
  while ((error = look(&entry, texts.data(), texts.size(), &found)) == ERANGE && texts.size() < kMaxEntryBytes) {
    texts.resize(2 * texts.size());
  }
  // Some NSS modules report a missing entry this way.
  if (error == 0 || error == ENOENT || error == ESRCH) {
    if (found == nullptr) return std::nullopt;
    GroupEntry group{found->gr_name, found->gr_gid, {}};
    for (char** member = found->gr_mem; *member != nullptr; ++member) group.members.emplace_back(*member);
    return group;
  }
  return absl::FailedPreconditionError(absl::StrCat("cannot look up group ", asked, ": ", std::strerror(error)));
}

std::optional<gid_t> group_number(const std::string& text) {
  gid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// In a user namespace without the group, as a lab's, no file can be given to it.
bool is_mapped(gid_t group) {
  std::ifstream map("/proc/self/gid_map");
  std::uint64_t first = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  bool has_map = false;
  while (map >> first >> outside >> count) {
    has_map = true;
    if (group >= first && group - first < count) return true;
  }
  return !has_map;
}

}  // namespace

absl::StatusOr<std::optional<GroupEntry>> find_group(const std::string& name) {
  return look_up(name, [&](auto... rest) { return ::getgrnam_r(name.c_str(), rest...); });
}

absl::StatusOr<std::optional<GroupEntry>> find_group(gid_t number) {
  return look_up(absl::StrCat(number), [&](auto... rest) { return ::getgrgid_r(number, rest...); });
}

absl::StatusOr<SessionGroup> find_session_group(const std::string& setting) {
  if (setting == kEveryUser) return SessionGroup{true, std::nullopt};
  const std::string name = setting.empty() ? kDefaultSessionGroup : setting;
  const absl::StatusOr<std::optional<GroupEntry>> named = find_group(name);
  if (!named.ok()) return named.status();
  std::optional<gid_t> number = named->has_value() ? std::optional((*named)->number) : std::nullopt;
  if (setting.empty()) return SessionGroup{false, number && is_mapped(*number) ? number : std::nullopt};
  // A number needs no entry, as where a container's files do not have the host's groups.
  if (!number) number = group_number(name);
  if (number && is_mapped(*number)) return SessionGroup{false, number};
  if (number) {
    return absl::FailedPreconditionError(
        absl::StrCat("CABLEWAY_SESSION_GROUP is \"", name, "\": this user namespace has no such group"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "CABLEWAY_SESSION_GROUP is \"", name, "\": this host has no such group; create it: groupadd --system ", name));
}

std::string user_name(uid_t user) {
  std::vector<char> texts(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, texts.data(), texts.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return absl::StrCat(user);
}

}  // namespace cableway::host
