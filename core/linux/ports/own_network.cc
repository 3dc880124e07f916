#include "core/linux/ports/own_network.h"

#include <net/if.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway::host {
namespace {

constexpr std::size_t kMaxInterfaces = 4096;
constexpr std::size_t kMaxShown = 8;
constexpr char kBondingFile[] = "bonding_masters";  // among the interfaces where that module is loaded
// The initial PID namespace, the same on every kernel (PROC_PID_INIT_INO).
constexpr char kFirstPidNamespace[] = "pid:[4026531836]";

std::string link_target(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::read_symlink(path, error);
  return error ? "" : target.string();
}

// Sysfs shows the namespace in which it was mounted, which may differ from this thread's.
bool shows(const Sysfs& sysfs, std::vector<std::string> interfaces) {
  std::vector<std::string> shown = sysfs.names("class/net", kMaxInterfaces);
  shown.erase(std::remove(shown.begin(), shown.end(), kBondingFile), shown.end());
  std::sort(interfaces.begin(), interfaces.end());
  return shown == interfaces;
}

bool is_there(const char* path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

std::vector<std::string> interface_names() {
  std::vector<std::string> names;
  struct if_nameindex* const list = ::if_nameindex();
  if (list == nullptr) return names;
  for (const struct if_nameindex* each = list; each->if_index != 0 && names.size() < kMaxInterfaces; ++each) {
    names.emplace_back(each->if_name);
  }
  ::if_freenameindex(list);
  return names;
}

OwnNetwork read_own_network(const Sysfs& sysfs, const std::string& proc, std::vector<std::string> interfaces) {
  OwnNetwork network;
  network.interfaces = std::move(interfaces);
  const bool has_device = std::any_of(
      network.interfaces.begin(), network.interfaces.end(),
      [&](const std::string& name) { return !sysfs.link_name(absl::StrCat("class/net/", name, "/device")).empty(); });
  network.sees_hardware = has_device && shows(sysfs, network.interfaces);
  const std::string own = link_target(absl::StrCat(proc, "/thread-self/ns/net"));
  network.is_hosts = !own.empty() && own == link_target(absl::StrCat(proc, "/1/ns/net")) &&
                     link_target(absl::StrCat(proc, "/self/ns/pid")) == kFirstPidNamespace;
  return network;
}

std::string why_no_cables(const OwnNetwork& network) {
  if (network.interfaces.empty() || network.sees_hardware || network.is_hosts) return "";
  const std::size_t shown = std::min(network.interfaces.size(), kMaxShown);
  std::string names =
      absl::StrJoin(network.interfaces.begin(), network.interfaces.begin() + static_cast<std::ptrdiff_t>(shown), ", ");
  if (shown < network.interfaces.size()) absl::StrAppend(&names, " and ", network.interfaces.size() - shown, " more");
  return absl::StrCat("this network namespace has no cables (interfaces: ", names, ")");
}

std::string no_cables_advised(const OwnNetwork& network) {
  const std::string why = why_no_cables(network);
  if (why.empty()) return "";
  return absl::StrCat(why,
                      ": start the container with --network host, or the job in the namespace of the cables; if one of "
                      "these interfaces is a cable, name it in CABLEWAY_PORTS");
}

bool is_in_container() {
  return is_there("/.dockerenv") || is_there("/run/.containerenv") || std::getenv("container") != nullptr ||
         std::getenv("KUBERNETES_SERVICE_HOST") != nullptr;
}

}  // namespace cableway::host
