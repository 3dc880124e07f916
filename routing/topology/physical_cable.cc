#include "routing/topology/physical_cable.h"

#include <algorithm>
#include <map>
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

}  // namespace

PhysicalCables physical_cables(const Topology& topology) {
  PhysicalCables physical;
  group_cables(topology, physical);
  find_shared_connectors(topology, physical);
  return physical;
}

std::string connector_name(const Topology& topology, const PhysicalCables& physical, const SharedConnector& connector) {
  const CableIndex cable = physical.cables[connector.physical_cables.front()].cables.front();
  const Port& port = topology.port_at(cable, connector.node);
  const std::string& node = topology.node(connector.node).name;
  return port.plug.empty() ? absl::StrCat(node, " ", port.interface) : absl::StrCat(node, " plug ", port.plug);
}

}  // namespace cableway::routing
