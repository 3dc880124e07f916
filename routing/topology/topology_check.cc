#include "routing/topology/topology_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_name.h"
#include "routing/topology/port_address.h"

namespace cableway::routing {
namespace {

using At = TopologyFault::At;
using Part = TopologyFault::Part;

// Checks nodes and cables one by one, remembering the names, addresses and ports already used.
class Checker {
 public:
  Checker(std::span<const Node> nodes, std::span<const Cable> cables) : nodes_(nodes), cables_(cables) {}

  // The part that breaks a rule, and the message.
  struct Broken {
    Part part = Part::kWhole;
    std::string message;
  };
  using Result = std::optional<Broken>;

  Result check_node(std::size_t index);
  Result check_cable(std::size_t index);

 private:
  using PlacedAddress = std::pair<PortAddress, NodeIndex>;

  static Result check_parts(const Node& node, const std::vector<SharedPart>& parts, Part part);
  Result check_cable_name(const Cable& cable);
  Result check_ends_exist(const Cable& cable) const;
  Result check_capacity(const Cable& cable) const;
  Result check_port(const Port& port, Part part, PortAddress& address) const;
  Result check_rate_at(const Cable& cable, const Port& port) const;
  Result claim_address(std::size_t cable_index, const Port& port, Part part, const PortAddress& address);
  Result claim_at(NodeIndex witness, std::size_t cable_index, const Port& port, Part part, const PortAddress& address);
  Result claim_pair_of_ports(std::size_t cable_index, const PlacedAddress& a, const PlacedAddress& b);

  const std::string& name_of(const Port& port) const { return nodes_[port.node.value].name; }

  struct Claim {
    std::size_t cable_index;
    const Port* port;
  };

  std::span<const Node> nodes_;
  std::span<const Cable> cables_;
  std::set<std::string_view> node_names_;
  std::set<std::string_view> cable_names_;
  std::map<PlacedAddress, Claim> claims_;  // by the node that knows the address
  std::map<std::pair<PlacedAddress, PlacedAddress>, std::size_t> cable_of_ports_;
};

Checker::Result Checker::check_node(std::size_t index) {
  const Node& node = nodes_[index];
  if (!is_valid_name(node.name, kMaxNodeNameBytes)) {
    return Broken{Part::kName,
                  absl::StrCat("node name ", in_quotes(node.name), " ", name_fault(node.name, kMaxNodeNameBytes))};
  }
  if (!node_names_.insert(node.name).second) {
    return Broken{Part::kName, absl::StrCat("node name ", in_quotes(node.name),
                                            " is used twice; expected every node to have its own name")};
  }
  if (node.relay_port == 0) {
    return Broken{Part::kRelayPort,
                  absl::StrCat("relay_port of node ", in_quotes(node.name), " is 0; expected a TCP port, 1 to 65535")};
  }
  if (Result broken = check_parts(node, node.plugs, Part::kPlugs)) return broken;
  return check_parts(node, node.roots, Part::kRoots);
}

// `part`: kPlugs or kRoots.
Checker::Result Checker::check_parts(const Node& node, const std::vector<SharedPart>& parts, Part part) {
  const char* const kind = part == Part::kPlugs ? "plug" : "root";
  if (parts.size() > kMaxSharedParts) {
    return Broken{part, absl::StrCat("node ", in_quotes(node.name), " has ", parts.size(), " ", kind,
                                     "s; expected at most ", kMaxSharedParts)};
  }
  std::set<std::string_view> names;
  for (const SharedPart& each : parts) {
    const std::string what = absl::StrCat(kind, " ", in_quotes(each.name), " of node ", in_quotes(node.name));
    if (each.name.empty() || !is_valid_part_name(each.name)) {
      return Broken{part, absl::StrCat(what, " is not valid; expected 1 to ", kMaxPlugLength,
                                       " characters of A-Z a-z 0-9 . _ : -")};
    }
    if (!names.insert(each.name).second) {
      return Broken{part, absl::StrCat(what, " is listed twice; expected each ", kind, " once")};
    }
    if (each.rate_mbps == 0 || each.rate_mbps > kMaxRateMbps) {
      return Broken{part,
                    absl::StrCat("rate_mbps of ", what, " is ", each.rate_mbps, "; expected 1 to ", kMaxRateMbps)};
    }
  }
  return std::nullopt;
}

Checker::Result Checker::check_cable_name(const Cable& cable) {
  if (!is_valid_cable_name(cable.name)) {
    return Broken{Part::kName, absl::StrCat("cable name ", in_quotes(cable.name), " ", cable_name_fault(cable.name))};
  }
  if (!cable_names_.insert(cable.name).second) {
    return Broken{Part::kName, absl::StrCat("cable name ", in_quotes(cable.name),
                                            " is used twice; expected every cable to have its own name")};
  }
  return std::nullopt;
}

Checker::Result Checker::check_ends_exist(const Cable& cable) const {
  for (const Part part : {Part::kEndA, Part::kEndB}) {
    const std::uint32_t node = (part == Part::kEndA ? cable.a : cable.b).node.value;
    if (node < nodes_.size()) continue;
    return Broken{part, absl::StrCat("cable ", in_quotes(cable.name), " ends at node index ", node,
                                     ", which does not exist; expected less than ", nodes_.size())};
  }
  if (cable.a.node == cable.b.node) {
    return Broken{Part::kEndB, absl::StrCat("cable ", in_quotes(cable.name), " joins node ",
                                            in_quotes(name_of(cable.a)), " to itself; expected two different nodes")};
  }
  return std::nullopt;
}

Checker::Result Checker::check_capacity(const Cable& cable) const {
  if (cable.rate_mbps == 0 || cable.rate_mbps > kMaxRateMbps) {
    return Broken{Part::kRate, absl::StrCat("rate_mbps of cable ", in_quotes(cable.name), " is ", cable.rate_mbps,
                                            "; expected 1 to ", kMaxRateMbps)};
  }
  const double latency = cable.latency_us.value_or(0);
  if (!(latency >= 0 && latency <= kMaxLatencyUs)) {  // false for NaN too
    return Broken{Part::kLatency, absl::StrCat("latency_us of cable ", in_quotes(cable.name), " is ", latency,
                                               "; expected 0 to ", kMaxLatencyUs)};
  }
  return std::nullopt;
}

Checker::Result Checker::check_port(const Port& port, Part part, PortAddress& address) const {
  if (!port.interface.empty() && !is_valid_interface_name(port.interface)) {
    return Broken{part, absl::StrCat("interface ", in_quotes(port.interface), " of node ", in_quotes(name_of(port)),

                                     " is not valid; expected the name of a network interface, at most 15 characters, "
                                     "the first not -")};
  }
  for (const auto& [kind, name] : {std::pair("plug", &port.plug), std::pair("root", &port.root)}) {
    if (is_valid_part_name(*name)) continue;
    return Broken{part,
                  absl::StrCat(kind, " ", in_quotes(*name), " of node ", in_quotes(name_of(port)),
                               " is not valid; expected 1 to ", kMaxPlugLength, " characters of A-Z a-z 0-9 . _ : -")};
  }
  absl::StatusOr<PortAddress> parsed = parse_port_address(port.address);
  if (!parsed.ok()) return Broken{part, std::string(parsed.status().message())};
  address = *std::move(parsed);
  if (!address.is_ipv6_link_local()) return std::nullopt;
  if (port.interface.empty() && address.scope.empty()) {
    return Broken{part, absl::StrCat("address ", in_quotes(port.address), " of node ", in_quotes(name_of(port)),
                                     " is link-local but its interface is unknown; expected an interface, or \"",
                                     port.address, "%INTERFACE\"")};
  }
  if (!port.interface.empty() && !address.scope.empty() && port.interface != address.scope) {
    return Broken{part,
                  absl::StrCat("address ", in_quotes(port.address), " is not on interface ", in_quotes(port.interface),
                               " of node ", in_quotes(name_of(port)), "; expected scope and interface to agree")};
  }
  return std::nullopt;
}

// Code that computes with shared parts skips a part that its cables cannot exceed. So a cable that is faster than its
// plug or root, and alone there, would not be limited at all.
Checker::Result Checker::check_rate_at(const Cable& cable, const Port& port) const {
  const Node& node = nodes_[port.node.value];
  const auto exceeds = [&](const char* kind, const std::string& name, const std::vector<SharedPart>& parts) -> Result {
    const std::uint64_t most = stated_rate_mbps(parts, name).value_or(kMaxRateMbps);
    if (cable.rate_mbps <= most) return std::nullopt;
    return Broken{Part::kRate, absl::StrCat("rate_mbps of cable ", in_quotes(cable.name), " is ", cable.rate_mbps,
                                            "; expected at most ", most, ", the rate of ", kind, " ", in_quotes(name),
                                            " of node ", in_quotes(node.name))};
  };
  if (Result broken = exceeds("plug", port.plug, node.plugs)) return broken;
  return exceeds("root", port.root, node.roots);
}

// Both nodes of the cable know the address. A link-local one is unique on its own cable only.
Checker::Result Checker::claim_address(std::size_t cable_index, const Port& port, Part part,
                                       const PortAddress& address) {
  const Cable& cable = cables_[cable_index];
  if (Result broken = claim_at(port.node, cable_index, port, part, address)) return broken;
  if (address.is_ipv6_link_local()) return std::nullopt;
  const NodeIndex other = cable.a.node == port.node ? cable.b.node : cable.a.node;
  return claim_at(other, cable_index, port, part, address);
}

Checker::Result Checker::claim_at(NodeIndex witness, std::size_t cable_index, const Port& port, Part part,
                                  const PortAddress& address) {
  const auto [it, is_new] = claims_.try_emplace({address, witness}, Claim{cable_index, &port});
  if (is_new) return std::nullopt;
  const Port& other = *it->second.port;
  if (other.node == port.node && other.interface == port.interface && !port.interface.empty()) {
    if (other.plug == port.plug && other.root == port.root) return std::nullopt;
    const bool plug = other.plug != port.plug;
    const char* const kind = plug ? "plug " : "root ";
    return Broken{
        part, absl::StrCat("port ", in_quotes(port.interface), " of node ", in_quotes(name_of(port)), " has ", kind,
                           in_quotes(plug ? port.plug : port.root), " here and ", kind,
                           in_quotes(plug ? other.plug : other.root), " on cable ",
                           in_quotes(cables_[it->second.cable_index].name), "; expected one ", kind, "for one port")};
  }
  return Broken{part,
                absl::StrCat("address ", in_quotes(port.address), " of node ", in_quotes(name_of(port)),
                             " is already used by node ", in_quotes(name_of(other)), " on cable ",
                             in_quotes(cables_[it->second.cable_index].name),
                             "; expected the ports of a node and of its neighbours to have addresses of their own (a "
                             "port of several cables, as on a switch, names its interface)")};
}

Checker::Result Checker::claim_pair_of_ports(std::size_t cable_index, const PlacedAddress& a, const PlacedAddress& b) {
  const auto [it, is_new] = cable_of_ports_.try_emplace(a < b ? std::pair(a, b) : std::pair(b, a), cable_index);
  if (is_new) return std::nullopt;
  return Broken{Part::kWhole,
                absl::StrCat("cable ", in_quotes(cables_[cable_index].name), " joins the same two ports as cable ",
                             in_quotes(cables_[it->second].name), "; expected a cable to be listed once")};
}

Checker::Result Checker::check_cable(std::size_t index) {
  const Cable& cable = cables_[index];
  PortAddress a;
  PortAddress b;
  if (Result broken = check_cable_name(cable)) return broken;
  if (Result broken = check_ends_exist(cable)) return broken;
  if (Result broken = check_capacity(cable)) return broken;
  if (Result broken = check_port(cable.a, Part::kEndA, a)) return broken;
  if (Result broken = check_port(cable.b, Part::kEndB, b)) return broken;
  if (Result broken = check_rate_at(cable, cable.a)) return broken;
  if (Result broken = check_rate_at(cable, cable.b)) return broken;
  if (a.is_ipv6 != b.is_ipv6) {
    return Broken{Part::kEndB, absl::StrCat("addresses ", in_quotes(cable.a.address), " and ",
                                            in_quotes(cable.b.address), " of cable ", in_quotes(cable.name),
                                            " are of different families; expected both IPv4 or both IPv6")};
  }
  if (Result broken = claim_address(index, cable.a, Part::kEndA, a)) return broken;
  if (Result broken = claim_address(index, cable.b, Part::kEndB, b)) return broken;
  return claim_pair_of_ports(index, {a, cable.a.node}, {b, cable.b.node});
}

TopologyFault fault_of_topology(std::string message) {
  return {.at = At::kTopology, .index = 0, .part = Part::kWhole, .message = std::move(message)};
}

}  // namespace

bool is_valid_part_name(std::string_view name) {
  return name.size() <= kMaxPlugLength && std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == ':' || c == '-';
         });
}

std::optional<TopologyFault> find_topology_fault(std::span<const Node> nodes, std::span<const Cable> cables) {
  if (nodes.empty()) return fault_of_topology("there are no nodes; expected at least one");
  if (nodes.size() > kMaxNodes) {
    return fault_of_topology(absl::StrCat("there are ", nodes.size(), " nodes; expected at most ", kMaxNodes));
  }
  if (cables.size() > kMaxCables) {
    return fault_of_topology(absl::StrCat("there are ", cables.size(), " cables; expected at most ", kMaxCables));
  }
  Checker checker(nodes, cables);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (Checker::Result broken = checker.check_node(i)) {
      return TopologyFault{At::kNode, i, broken->part, std::move(broken->message)};
    }
  }
  for (std::size_t i = 0; i < cables.size(); ++i) {
    if (Checker::Result broken = checker.check_cable(i)) {
      return TopologyFault{At::kCable, i, broken->part, std::move(broken->message)};
    }
  }
  return std::nullopt;
}

}  // namespace cableway::routing
