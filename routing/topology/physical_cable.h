// The physical cables of a topology: wires that fail as one, and connectors whose capacity several cables share.
//
// A Cable is a pair of ports. Two cables between the same two plugs are one wire (the PCIe twins of a split port): they
// share capacity and fail together. Several wires that end in one connector (a port or plug on a switch segment) fail
// with it and share its capacity. Full duplex: a capacity holds in each direction separately.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_PHYSICAL_CABLE_H_
#define CABLEWAY_ROUTING_TOPOLOGY_PHYSICAL_CABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// All cables that join the same two plugs; a cable without a plug at either end is a physical cable by itself.
struct PhysicalCable {
  NodeIndex a;  // a < b
  NodeIndex b;
  std::vector<CableIndex> cables;  // sorted, at least one
  std::uint64_t rate_mbps = 0;     // joint rate: that of the fastest
  // Indices into PhysicalCables::connectors of the connectors that it shares with other physical cables.
  std::optional<std::size_t> shared_at_a;
  std::optional<std::size_t> shared_at_b;
  friend bool operator==(const PhysicalCable&, const PhysicalCable&) = default;
};

// A connector that ends several physical cables: a plug, or a port that has an interface and no plug.
struct SharedConnector {
  NodeIndex node;
  std::vector<std::size_t> physical_cables;  // indices into PhysicalCables::cables, sorted, at least two
  std::uint64_t rate_mbps = 0;               // joint rate: that of the fastest
  friend bool operator==(const SharedConnector&, const SharedConnector&) = default;
};

struct PhysicalCables {
  std::vector<PhysicalCable> cables;        // in the order of their lowest cables
  std::vector<SharedConnector> connectors;  // by node, then in the order of their lowest cables
  std::vector<std::size_t> place_of_cable;  // by CableIndex: index into `cables`
  friend bool operator==(const PhysicalCables&, const PhysicalCables&) = default;
};

// Pure. O(cables * log cables).
PhysicalCables physical_cables(const Topology& topology);

// "n0 eth1", "n0 plug p0": the connector's name in messages and drawings.
std::string connector_name(const Topology& topology, const PhysicalCables& physical, const SharedConnector& connector);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_PHYSICAL_CABLE_H_
