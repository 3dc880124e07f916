#include "core/linux/ports/pcie_link.h"

#include <algorithm>
#include <cstddef>
#include <string>
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

// "0000:01:00.0"; the domain may have more digits. Other folders of a device's path are host bridges ("pci0000:00") and
// devices of other buses ("0-1.0").
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

std::string name_of(const std::string& folder) {
  return folder.substr(folder.rfind('/') + 1);
}

// The folders, from sysfs's root, of the functions from a host bridge down to the device at `path`: a root port, then
// pairs of a switch's upstream and downstream port, then the device. So every second one is the lower end of a link,
// and reports that link's speed. A downstream port reports the link below it; the bus above it is inside the switch.
std::vector<std::string> functions_on(const std::string& path) {
  const std::vector<std::string> names = absl::StrSplit(path, '/');
  std::vector<std::string> functions;
  std::string folder;
  bool is_thunderbolt = false;
  for (const std::string& name : names) {
    absl::StrAppend(&folder, folder.empty() ? "" : "/", name);
    if (name.starts_with("pci")) functions.clear();  // some host bridges are devices below another one
    if (name.starts_with("domain")) is_thunderbolt = true;
    if (is_pci_function(name)) functions.push_back(folder);
  }
  // A Thunderbolt controller with its own switch reports 2.5 GT/s for the links inside it, whatever their real speed.
  if (is_thunderbolt && functions.size() > 2) functions.pop_back();
  return functions;
}

// A link that is tunnelled through a Thunderbolt cable reports 2.5 GT/s, whatever its real speed, which is unknown. The
// kernel marks devices behind an external port as removable.
bool is_tunnel(const Sysfs& sysfs, const std::string& function, const PcieSpeed& speed) {
  constexpr double kFirstGeneration = 2.5;
  return speed.gigatransfers <= kFirstGeneration && sysfs.line(absl::StrCat(function, "/removable")) == "removable";
}

}  // namespace

std::uint64_t PcieSpeed::rate_mbps() const {
  return routing::pcie_rate_mbps(gigatransfers, lanes);
}

PcieSpeed PcieLink::maximum() const {
  if (!slot.known() || !adapter.known()) return adapter;
  return {std::min(slot.gigatransfers, adapter.gigatransfers), std::min(slot.lanes, adapter.lanes)};
}

PcieLink read_pcie_link(const Sysfs& sysfs, const std::string& interface) {
  const std::string path = sysfs.real_path(absl::StrCat("class/net/", interface, "/device"));
  if (path.empty() || sysfs.line(absl::StrCat("class/net/", interface, "/device/vendor")) == kVirtioVendor) return {};
  const std::vector<std::string> functions = functions_on(path);
  PcieLink narrowest;
  for (std::size_t lower = 1; lower < functions.size(); lower += 2) {
    const PcieSpeed current = read_speed(sysfs, functions[lower], "current");
    const bool is_narrower = narrowest.root.empty() || current.rate_mbps() < narrowest.current.rate_mbps();
    if (!current.known() || !is_narrower || is_tunnel(sysfs, functions[lower], current)) continue;
    narrowest = {name_of(functions[lower - 1]), current, read_speed(sysfs, functions[lower], "max"),
                 read_speed(sysfs, functions[lower - 1], "max")};
  }
  return narrowest;
}

}  // namespace cableway::host
