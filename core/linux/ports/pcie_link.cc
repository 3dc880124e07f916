#include "core/linux/ports/pcie_link.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "routing/topology/pcie_rate.h"

namespace cableway::host {
namespace {

constexpr char kVirtioVendor[] = "0x1af4";

// "0000:01:00.0"; the domain may have more digits. Other folders of a device's path are hosts bridges ("pci0000:00")
// and devices of other buses ("0-1.0").
bool is_pci_function(std::string_view name) {
  const std::size_t domain = name.find(':');
  if (domain == std::string_view::npos || domain < 4 || name.size() != domain + 8) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const std::size_t after = i - domain;  // wraps before the domain's end
    const bool fits = after == 0 || after == 3 ? c == ':' : after == 6 ? c == '.' : absl::ascii_isxdigit(c);
    if (!fits) return false;
  }
  return true;
}

// The number in "16.0 GT/s PCIe"; 0 if there is none, as in "Unknown".
double first_number(const std::string& text) {
  double value = 0;
  const bool is_number = absl::SimpleAtod(text.substr(0, text.find(' ')), &value);
  return is_number && value > 0 && value < 1000 ? value : 0;
}

// `which`: "current" or "max". The kernel reports 255 lanes for an unknown width.
PcieSpeed read_speed(const Sysfs& sysfs, const std::string& function, const char* which) {
  PcieSpeed speed;
  speed.gigatransfers = first_number(sysfs.line(absl::StrCat(function, "/", which, "_link_speed")));
  const bool is_number = absl::SimpleAtoi(sysfs.line(absl::StrCat(function, "/", which, "_link_width")), &speed.lanes);
  if (!is_number || speed.lanes > 32) speed.lanes = 0;
  return speed;
}

}  // namespace

std::uint64_t PcieSpeed::rate_mbps() const {
  return routing::pcie_rate_mbps(gigatransfers, lanes);
}

PcieLink read_pcie_link(const Sysfs& sysfs, const std::string& interface) {
  PcieLink narrowest;
  const std::string path = sysfs.real_path(absl::StrCat("class/net/", interface, "/device"));
  if (path.empty() || sysfs.line(absl::StrCat("class/net/", interface, "/device/vendor")) == kVirtioVendor) return {};
  const std::vector<std::string> folders = absl::StrSplit(path, '/');
  std::string upper;   // the function above the current folder's, "" below a host bridge
  std::string folder;  // from sysfs's root
  for (const std::string& name : folders) {
    absl::StrAppend(&folder, folder.empty() ? "" : "/", name);
    if (!is_pci_function(name)) continue;
    const PcieSpeed current = upper.empty() ? PcieSpeed{} : read_speed(sysfs, folder, "current");
    const bool is_narrower = narrowest.root.empty() || current.rate_mbps() < narrowest.current.rate_mbps();
    if (current.known() && is_narrower) narrowest = {upper, current, read_speed(sysfs, folder, "max")};
    upper = name;
  }
  return narrowest;
}

}  // namespace cableway::host
