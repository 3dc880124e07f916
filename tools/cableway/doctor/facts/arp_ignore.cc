#include "tools/cableway/doctor/facts/arp_ignore.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cableway::cli {
namespace {

constexpr char kConfFolder[] = "sys/net/ipv4/conf";
constexpr std::size_t kMaxConfInterfaces = 4096;

}  // namespace

std::map<std::string, int> read_arp_ignore(const host::Sysfs& proc) {
  const auto value_of = [&](const std::string& interface) {
    int value = -1;
    const bool is_number =
        absl::SimpleAtoi(proc.line(absl::StrCat(kConfFolder, "/", interface, "/arp_ignore")), &value) && value >= 0;
    return is_number ? value : -1;
  };
  std::map<std::string, int> effective;
  const int everywhere = value_of("all");
  for (const std::string& interface : proc.names(kConfFolder, kMaxConfInterfaces)) {
    const int own = value_of(interface);
    if (own >= 0 && interface != "all" && interface != "default") effective[interface] = std::max(own, everywhere);
  }
  return effective;
}

}  // namespace cableway::cli
