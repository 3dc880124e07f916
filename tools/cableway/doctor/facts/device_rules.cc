#include "tools/cableway/doctor/facts/device_rules.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/linux/os/bounded_file.h"

namespace cableway::cli {
namespace {

constexpr char kVerbsDriver[] = "infiniband_verbs";
constexpr std::uint32_t kVerbsMajor = 231;  // Documentation/admin-guide/devices.txt of the kernel
constexpr std::size_t kMaxDeviceListBytes = 64U << 10;

// Lines like "231 infiniband_verbs", in the list of character devices, which comes first. A host with many devices has
// a second major for them.
std::vector<std::uint32_t> verbs_majors(const std::string& proc) {
  std::vector<std::uint32_t> majors;
  const auto file = host::open_file(absl::StrCat(proc, "/devices"));
  const auto text =
      file.ok() ? host::read_at_most(*file, kMaxDeviceListBytes) : absl::StatusOr<std::string>(file.status());
  if (!text.ok()) return majors;
  const std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  for (const std::string& line : lines) {
    if (line == "Block devices:") break;
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    std::uint32_t major = 0;
    const bool is_verbs = words.size() == 2 && words[1] == kVerbsDriver && absl::SimpleAtoi(words[0], &major);
    if (is_verbs && std::find(majors.begin(), majors.end(), major) == majors.end()) majors.push_back(major);
  }
  return majors;
}

// "10:121"; "" if the kernel has no such file.
std::string rdma_cm_numbers(const host::Sysfs& sysfs) {
  const std::vector<std::string> numbers = absl::StrSplit(sysfs.line("class/misc/rdma_cm/dev"), ':');
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  const bool is_valid =
      numbers.size() == 2 && absl::SimpleAtoi(numbers[0], &major) && absl::SimpleAtoi(numbers[1], &minor);
  return is_valid ? absl::StrCat(major, ":", minor) : "";
}

}  // namespace

std::vector<std::string> read_rdma_device_rules(const host::Sysfs& sysfs, const std::string& proc) {
  std::vector<std::uint32_t> majors = verbs_majors(proc);
  if (majors.empty()) majors.push_back(kVerbsMajor);
  std::vector<std::string> rules;
  rules.reserve(majors.size() + 1);
  for (const std::uint32_t major : majors) rules.push_back(absl::StrCat("c ", major, ":* rwm"));
  if (const std::string numbers = rdma_cm_numbers(sysfs); !numbers.empty()) {
    rules.push_back(absl::StrCat("c ", numbers, " rwm"));
  }
  return rules;
}

}  // namespace cableway::cli
