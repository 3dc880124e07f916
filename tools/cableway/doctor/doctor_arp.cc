#include "tools/cableway/doctor/doctor_arp.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace cableway::cli {
namespace {

constexpr char kFolder[] = "sys/net/ipv4/conf";
constexpr std::size_t kMaxInterfaces = 4096;

struct PlugPort {
  std::string interface;
  bool has_ipv4 = false;
  bool uses_rdma = false;
};

// With 1 and 2 an interface answers for its own addresses only, with 8 for none; with 3 and the reserved values for
// others too (Documentation/networking/ip-sysctl.rst of the kernel).
bool answers_for_others(int arp_ignore) {
  return arp_ignore != 1 && arp_ignore != 2 && arp_ignore != 8;
}

// sysctl(8) writes a dot of an interface's name as a slash.
std::string sysctl_name(const std::string& interface) {
  return absl::StrCat("net.ipv4.conf.", absl::StrReplaceAll(interface, {{".", "/"}}));
}

Finding finding_of(const std::vector<PlugPort>& plug, const std::vector<std::string>& answering,
                   const std::map<std::string, int>& arp_ignore) {
  const bool uses_rdma = std::any_of(plug.begin(), plug.end(), [](const PlugPort& port) { return port.uses_rdma; });
  const std::string all =
      absl::StrJoin(plug, ", ", [](std::string* out, const PlugPort& port) { absl::StrAppend(out, port.interface); });
  const std::string values = absl::StrJoin(answering, ", ", [&](std::string* out, const std::string& interface) {
    absl::StrAppend(out, arp_ignore.at(interface), " on ", interface);
  });
  const std::string commands = absl::StrJoin(answering, " ", [](std::string* out, const std::string& interface) {
    const std::string name = sysctl_name(interface);
    absl::StrAppend(out, name, ".arp_ignore=1 ", name, ".arp_announce=2");
  });
  const char* const result = uses_rdma ? "RDMA then reaches the wrong one" : "all data may then arrive through one";
  return {Severity::kWarning, std::string(name_of(FindingCode::kArpAnsweredForTwin)), absl::StrCat("ports ", all),
          absl::StrCat("they are functions of one plug, and arp_ignore is ", values,
                       ": a function may answer ARP for another's address, and ", result),
          absl::StrCat("sysctl -w ", commands,
                       "\nand, to make it last, the same settings, each in a line, in /etc/sysctl.d/90-cableway.conf")};
}

}  // namespace

std::map<std::string, int> read_arp_ignore(const host::Sysfs& proc) {
  const auto value_of = [&](const std::string& interface) {
    int value = -1;
    const bool is_number =
        absl::SimpleAtoi(proc.line(absl::StrCat(kFolder, "/", interface, "/arp_ignore")), &value) && value >= 0;
    return is_number ? value : -1;
  };
  std::map<std::string, int> effective;
  const int everywhere = value_of("all");
  for (const std::string& interface : proc.names(kFolder, kMaxInterfaces)) {
    const int own = value_of(interface);
    if (own >= 0 && interface != "all" && interface != "default") effective[interface] = std::max(own, everywhere);
  }
  return effective;
}

std::vector<Finding> examine_arp(const Json& ports, const std::map<std::string, int>& arp_ignore) {
  std::map<std::string, std::vector<PlugPort>> plugs;
  for (const Json& port : ports) {
    if (port.at("plug").is_null()) continue;
    const Json& addresses = port.at("addresses");
    const bool has_ipv4 = std::any_of(addresses.begin(), addresses.end(), [](const Json& address) {
      return address.get<std::string>().find(':') == std::string::npos;
    });
    plugs[text(port, "plug")].push_back({text(port, "interface"), has_ipv4, text(port, "transport") == "rdma"});
  }
  std::vector<Finding> findings;
  for (const auto& [name, plug] : plugs) {
    std::vector<std::string> answering;
    for (const PlugPort& port : plug) {
      const bool has_ipv4_beside = std::any_of(plug.begin(), plug.end(), [&](const PlugPort& other) {
        return other.interface != port.interface && other.has_ipv4;
      });
      const auto value = arp_ignore.find(port.interface);
      const bool answers = value != arp_ignore.end() && answers_for_others(value->second);
      if (has_ipv4_beside && answers) answering.push_back(port.interface);
    }
    if (!answering.empty()) findings.push_back(finding_of(plug, answering, arp_ignore));
  }
  return findings;
}

}  // namespace cableway::cli
