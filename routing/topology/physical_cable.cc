#include "routing/topology/physical_cable.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "routing/topology/port_address.h"

namespace cableway::routing {
namespace {

// Identifies a connector of a topology. A port without plug and interface ends one cable only, and its address is
// unique.
using ConnectorKey = std::tuple<NodeIndex, std::string, std::string, PortAddress>;  // node, plug, interface, address

ConnectorKey key_of(const Port& port) {
  if (!port.plug.empty()) return {port.node, port.plug, "", PortAddress()};
  // Addresses of a topology are valid. They are compared by value, as one address has several spellings.
  return {port.node, "", port.interface, *parse_port_address(port.address)};
}

std::uint64_t plug_rate(const Topology& topology, const Port& port, std::uint64_t fastest) {
  return stated_rate_mbps(topology.node(port.node).plugs, port.plug).value_or(fastest);
}

// Until find_wire_rates(), a group's rate is that of its fastest cable.
void group_cables(const Topology& topology, PhysicalCables& physical) {
  std::map<std::pair<ConnectorKey, ConnectorKey>, std::size_t> place_of_plugs;
  for (std::uint32_t i = 0; i < topology.cable_count(); ++i) {
    const Cable& cable = topology.cables()[i];
    std::size_t place = physical.cables.size();
    if (!cable.a.plug.empty() && !cable.b.plug.empty()) {
      place = place_of_plugs.try_emplace({key_of(cable.a), key_of(cable.b)}, place).first->second;
    }
    if (place == physical.cables.size()) physical.cables.push_back({cable.a.node, cable.b.node, {}, 0, {}, {}});
    PhysicalCable& group = physical.cables[place];
    group.cables.push_back(CableIndex{i});
    group.rate_mbps = std::max(group.rate_mbps, cable.rate_mbps);
    physical.place_of_cable.push_back(place);
  }
}

void find_wire_rates(const Topology& topology, PhysicalCables& physical) {
  for (PhysicalCable& wire : physical.cables) {
    if (wire.cables.size() == 1) continue;
    const Cable& first = topology.cable(wire.cables.front());
    std::uint64_t sum = 0;
    for (const CableIndex cable : wire.cables) sum += topology.cable(cable).rate_mbps;
    wire.rate_mbps =
        std::min({sum, plug_rate(topology, first.a, wire.rate_mbps), plug_rate(topology, first.b, wire.rate_mbps)});
  }
}

const Cable& first_cable(const Topology& topology, const PhysicalCable& physical) {
  return topology.cable(physical.cables.front());
}

void find_shared_connectors(const Topology& topology, PhysicalCables& physical) {
  std::map<ConnectorKey, std::vector<std::size_t>> ending_at;
  for (std::size_t place = 0; place < physical.cables.size(); ++place) {
    const Cable& cable = first_cable(topology, physical.cables[place]);
    ending_at[key_of(cable.a)].push_back(place);
    ending_at[key_of(cable.b)].push_back(place);
  }
  for (auto& [key, places] : ending_at) {
    if (places.size() < 2) continue;
    SharedConnector connector{std::get<NodeIndex>(key), std::move(places), 0};
    for (const std::size_t place : connector.physical_cables) {
      connector.rate_mbps = std::max(connector.rate_mbps, physical.cables[place].rate_mbps);
    }
    const PhysicalCable& any = physical.cables[connector.physical_cables.front()];
    const Port& port = topology.port_at(any.cables.front(), connector.node);
    connector.rate_mbps = plug_rate(topology, port, connector.rate_mbps);
    physical.connectors.push_back(std::move(connector));
  }
  std::sort(physical.connectors.begin(), physical.connectors.end(),
            [](const SharedConnector& left, const SharedConnector& right) {
              return std::tie(left.node, left.physical_cables) < std::tie(right.node, right.physical_cables);
            });
  for (std::size_t i = 0; i < physical.connectors.size(); ++i) {
    const SharedConnector& connector = physical.connectors[i];
    for (const std::size_t place : connector.physical_cables) {
      PhysicalCable& cable = physical.cables[place];
      (cable.a == connector.node ? cable.shared_at_a : cable.shared_at_b) = i;
    }
  }
}

// The most that the ports of a root's cables could carry together. A port of several cables counts once, unless it is
// part of a plug: then only the plug's rate bounds its cables, and each counts.
std::uint64_t rate_of_ports(const Topology& topology, NodeIndex node, const std::vector<CableIndex>& cables) {
  std::map<ConnectorKey, std::uint64_t> fastest;
  for (const CableIndex cable : cables) {
    const Port& port = topology.port_at(cable, node);
    std::uint64_t& rate = fastest[{node, "", port.interface, *parse_port_address(port.address)}];
    const std::uint64_t of_cable = topology.cable(cable).rate_mbps;
    rate = port.plug.empty() ? std::max(rate, of_cable) : rate + of_cable;
  }
  std::uint64_t sum = 0;
  for (const auto& [port, rate] : fastest) sum += rate;
  return sum;
}

void find_shared_roots(const Topology& topology, PhysicalCables& physical) {
  std::map<std::pair<NodeIndex, std::string>, std::vector<CableIndex>> behind;
  for (std::uint32_t i = 0; i < topology.cable_count(); ++i) {
    const Cable& cable = topology.cables()[i];
    for (const Port* port : {&cable.a, &cable.b}) {
      if (!port->root.empty()) behind[{port->node, port->root}].push_back(CableIndex{i});
    }
  }
  for (auto& [key, cables] : behind) {
    const auto& [node, name] = key;
    std::uint64_t fastest = 0;
    for (const CableIndex cable : cables) fastest = std::max(fastest, topology.cable(cable).rate_mbps);
    const std::uint64_t rate = stated_rate_mbps(topology.node(node).roots, name).value_or(fastest);
    if (cables.size() < 2 || rate >= rate_of_ports(topology, node, cables)) continue;
    physical.roots.push_back({node, name, std::move(cables), rate});
  }
  std::sort(physical.roots.begin(), physical.roots.end(), [](const SharedRoot& left, const SharedRoot& right) {
    return std::tie(left.node, left.cables) < std::tie(right.node, right.cables);
  });
  physical.roots_of_cable.resize(topology.cable_count());
  for (std::size_t i = 0; i < physical.roots.size(); ++i) {
    for (const CableIndex cable : physical.roots[i].cables) {
      CableRoots& roots = physical.roots_of_cable[cable.value];
      (topology.cable(cable).a.node == physical.roots[i].node ? roots.at_a : roots.at_b) = i;
    }
  }
}

PhysicalCables separate_cables(const Topology& topology) {
  PhysicalCables physical;
  physical.roots_of_cable.resize(topology.cable_count());
  for (std::uint32_t i = 0; i < topology.cable_count(); ++i) {
    const Cable& cable = topology.cables()[i];
    physical.cables.push_back({cable.a.node, cable.b.node, {CableIndex{i}}, cable.rate_mbps, {}, {}});
    physical.place_of_cable.push_back(i);
  }
  return physical;
}

}  // namespace

// Whether a port names a plug or root, or two cables end at one interface.
bool may_share_hardware(const Topology& topology) {
  std::vector<std::string_view> interfaces;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    const NodeIndex node{i};
    interfaces.clear();
    for (const Adjacency& adjacency : topology.adjacencies(node)) {
      const Port& port = topology.port_at(adjacency.cable, node);
      if (!port.plug.empty() || !port.root.empty()) return true;
      if (!port.interface.empty()) interfaces.emplace_back(port.interface);
    }
    std::sort(interfaces.begin(), interfaces.end());
    if (std::adjacent_find(interfaces.begin(), interfaces.end()) != interfaces.end()) return true;
  }
  return false;
}

PhysicalCables physical_cables(const Topology& topology) {
  if (!may_share_hardware(topology)) return separate_cables(topology);
  PhysicalCables physical;
  group_cables(topology, physical);
  find_wire_rates(topology, physical);
  find_shared_connectors(topology, physical);
  find_shared_roots(topology, physical);
  return physical;
}

std::string connector_name(const Topology& topology, const PhysicalCables& physical, const SharedConnector& connector) {
  const CableIndex cable = physical.cables[connector.physical_cables.front()].cables.front();
  const Port& port = topology.port_at(cable, connector.node);
  const std::string& node = topology.node(connector.node).name;
  return port.plug.empty() ? absl::StrCat(node, " ", port.interface) : absl::StrCat(node, " plug ", port.plug);
}

std::string root_name(const Topology& topology, const SharedRoot& root) {
  return absl::StrCat(topology.node(root.node).name, " root ", root.name);
}

}  // namespace cableway::routing
