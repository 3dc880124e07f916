#include "routing/shapes/port_plan.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/topology/port_address.h"

namespace cableway::routing {
namespace {

constexpr std::uint32_t kFirstSubnet = 7;  // of 10/8
constexpr std::uint32_t kByte = 256;

// "10.x.y." where x.y are the two bytes of `number`, starting at 10.7.0.
std::string subnet(std::uint32_t number) {
  return absl::StrCat("10.", (kFirstSubnet + number / kByte) % kByte, ".", number % kByte, ".");
}

class InterfaceNames {
 public:
  explicit InterfaceNames(const std::vector<Cable>& cables) {
    for (const Cable& cable : cables) {
      for (const Port* port : {&cable.a, &cable.b}) {
        if (!port->interface.empty()) taken_.emplace(port->node, port->interface);
      }
    }
  }

  // An interface name that is unique on the node.
  std::string choose(NodeIndex node, const std::string& peer, std::size_t cable) {
    std::string name = number(node, absl::StrCat("to-", peer));
    if (!is_valid_interface_name(name)) name = number(node, absl::StrCat("cable", cable));
    taken_.emplace(node, name);
    return name;
  }

 private:
  // `base`, or the first free one of "<base>-2", "<base>-3", ..
  std::string number(NodeIndex node, const std::string& base) {
    std::size_t& last = last_number_[{node, base}];
    std::string name;
    do {
      ++last;
      name = last == 1 ? base : absl::StrCat(base, "-", last);
    } while (taken_.contains({node, name}));
    return name;
  }

  std::set<std::pair<NodeIndex, std::string>> taken_;
  std::map<std::pair<NodeIndex, std::string>, std::size_t> last_number_;
};

}  // namespace

void plan_ports(std::span<const Node> nodes, std::vector<Cable>& cables) {
  InterfaceNames names(cables);
  for (std::size_t i = 0; i < cables.size(); ++i) {
    Cable& cable = cables[i];
    const std::string prefix = subnet(static_cast<std::uint32_t>(i));
    cable.a.address = prefix + "1";
    cable.b.address = prefix + "2";
    if (cable.a.interface.empty()) cable.a.interface = names.choose(cable.a.node, nodes[cable.b.node.value].name, i);
    if (cable.b.interface.empty()) cable.b.interface = names.choose(cable.b.node, nodes[cable.a.node.value].name, i);
  }
}

Port switch_port(std::uint32_t number) {
  const std::uint32_t host = number + 1;
  return {.node = NodeIndex{number},
          .interface = "to-s0",
          .address = absl::StrCat("10.", kFirstSubnet, ".", host / kByte, ".", host % kByte)};
}

}  // namespace cableway::routing
