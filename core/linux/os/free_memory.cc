#include "core/linux/os/free_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/linux/os/bounded_file.h"

namespace cableway::host {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMaxFileBytes = 65536;

std::string text_of(const std::string& path) {
  const absl::StatusOr<UniqueFd> file = open_file(path);
  if (!file.ok()) return "";
  return read_at_most(*file, kMaxFileBytes).value_or("");
}

// Of a line "NAME:   1234 kB".
std::optional<std::uint64_t> kilobytes(absl::string_view text, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    std::uint64_t number = 0;
    if (!absl::ConsumePrefix(&line, name) || !absl::ConsumeSuffix(&line, " kB")) continue;
    if (absl::SimpleAtoi(absl::StripAsciiWhitespace(line), &number)) return number << 10;
  }
  return std::nullopt;
}

// "max" is no number.
std::uint64_t number_in(const std::string& path, std::uint64_t otherwise) {
  std::uint64_t number = 0;
  return absl::SimpleAtoi(absl::StripAsciiWhitespace(text_of(path)), &number) ? number : otherwise;
}

// A group counts its members' page cache, too, which the kernel drops when it needs to; so this may be too little.
std::uint64_t left_by_groups(const std::string& root) {
  std::uint64_t left = kUnlimited;
  for (const absl::string_view line : absl::StrSplit(text_of(root + "/proc/self/cgroup"), '\n')) {
    absl::string_view group = line;
    if (!absl::ConsumePrefix(&group, "0::")) continue;
    for (;;) {
      const std::string folder = absl::StrCat(root, "/sys/fs/cgroup", group == "/" ? "" : group);
      const std::uint64_t most = number_in(folder + "/memory.max", kUnlimited);
      const std::uint64_t used = number_in(folder + "/memory.current", 0);
      if (most != kUnlimited) left = std::min(left, most > used ? most - used : 0);
      if (group.empty() || group == "/") break;
      group = group.substr(0, group.rfind('/'));
    }
  }
  return left;
}

std::uint64_t left_by_limit(const std::string& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const std::uint64_t used = kilobytes(text_of(root + "/proc/self/status"), "VmSize:").value_or(0);
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace

std::uint64_t free_memory_bytes(const std::string& root) {
  const std::uint64_t available = kilobytes(text_of(root + "/proc/meminfo"), "MemAvailable:").value_or(kUnlimited);
  return std::min({available, left_by_groups(root), left_by_limit(root)});
}

}  // namespace cableway::host
