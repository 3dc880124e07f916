#include "tools/cableway/doctor/doctor_networks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/ports/port_selector.h"

namespace cableway::cli {
namespace {

bool overlap(const PortPrefix& a, const PortPrefix& b) {
  return routing::in_same_prefix(a.address, b.address, std::min(a.prefix_length, b.prefix_length));
}

std::string named(const InterfaceAddress& each) {
  return absl::StrCat(each.interface, " (", to_text(each.prefix), ")");
}

class NetworkExamination {
 public:
  NetworkExamination(const Json& ports, const HostFacts& host) : host_(host) {
    for (const Json& port : ports) ports_.insert(text(port, "interface"));
  }

  std::vector<Finding> run() {
    check_default_routes();
    std::set<std::string> reported;  // ports whose subnet has been reported
    for (const InterfaceAddress& each : host_.addresses) {
      if (!is_port(each.interface)) continue;
      check_cables(each, reported);
      check_others(each);
    }
    return std::move(findings_);
  }

 private:
  bool is_port(const std::string& interface) const { return ports_.contains(interface); }

  void add(FindingCode code, std::string about, std::string what) {
    findings_.push_back(
        {Severity::kWarning, std::string(name_of(code)), std::move(about), std::move(what), advice_of(code)});
  }

  void check_default_routes() {
    for (const std::string& interface : host_.default_interfaces) {
      if (!is_port(interface)) continue;
      add(FindingCode::kDefaultRouteOnCable, absl::StrCat("port ", interface),
          absl::StrCat("a default route leads over ", interface, ": what is for other networks takes the cable"));
    }
  }

  void check_cables(const InterfaceAddress& address, std::set<std::string>& reported) {
    if (reported.contains(address.interface)) return;
    std::vector<std::string> together{named(address)};
    std::set<std::string> interfaces{address.interface};
    for (const InterfaceAddress& other : host_.addresses) {
      const bool is_shared = is_port(other.interface) && overlap(address.prefix, other.prefix);
      if (is_shared && interfaces.insert(other.interface).second) together.push_back(named(other));
    }
    if (interfaces.size() < 2) return;
    reported.insert(interfaces.begin(), interfaces.end());
    add(FindingCode::kCablesShareSubnet, absl::StrCat("ports ", absl::StrJoin(interfaces, ", ")),
        absl::StrCat("they are in one subnet: ", absl::StrJoin(together, ", ")));
  }

  void check_others(const InterfaceAddress& address) {
    for (const InterfaceAddress& other : host_.addresses) {
      if (is_port(other.interface) || !overlap(address.prefix, other.prefix)) continue;
      if (!beside_.insert({address.interface, other.interface}).second) continue;
      add(FindingCode::kSubnetBesideCable, absl::StrCat("port ", address.interface),
          absl::StrCat(named(address), " is in the subnet of ", named(other), ", which is no port"));
    }
  }

  const HostFacts& host_;
  std::set<std::string> ports_;
  std::set<std::pair<std::string, std::string>> beside_;  // port and other interface, reported
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> examine_networks(const Json& ports, const HostFacts& host) {
  return NetworkExamination(ports, host).run();
}

}  // namespace cableway::cli
