// What the cables of a topology share: wires that fail as one, connectors, and PCIe links.
//
// A Cable is a pair of ports. Two cables between the same two plugs are one wire (the PCIe twins of a split port): they
// share capacity and fail together. Several wires that end in one connector (a port or plug on a switch segment) fail
// with it and share its capacity. Cables behind one PCIe link (a root) share its capacity, whatever their wires. Full
// duplex: a capacity holds in each direction separately.
//
// A DGX Spark has two plugs, each of two functions on two roots: four cables, two wires, two roots.
//
//     root A: plug 0 function 0, plug 1 function 0        98 Gbit/s each way
//     root B: plug 0 function 1, plug 1 function 1        98 Gbit/s each way
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
  // Joint rate: that of the slower plug, or of all its cables together if that is less.
  std::uint64_t rate_mbps = 0;
  // Indices into PhysicalCables::connectors of the connectors that it shares with other physical cables.
  std::optional<std::size_t> shared_at_a;
  std::optional<std::size_t> shared_at_b;
  friend bool operator==(const PhysicalCable&, const PhysicalCable&) = default;
};

// A connector that ends several physical cables: a plug, or a port that has an interface and no plug.
struct SharedConnector {
  NodeIndex node;
  std::vector<std::size_t> physical_cables;  // indices into PhysicalCables::cables, sorted, at least two
  std::uint64_t rate_mbps = 0;               // joint rate: the plug's, or that of the fastest wire if it is not known
  friend bool operator==(const SharedConnector&, const SharedConnector&) = default;
};

// A PCIe link that moves less than its ports could together.
struct SharedRoot {
  NodeIndex node;
  std::string name;
  std::vector<CableIndex> cables;  // sorted, at least two
  std::uint64_t rate_mbps = 0;     // joint rate: the root's, or that of the fastest cable if it is not known
  friend bool operator==(const SharedRoot&, const SharedRoot&) = default;
};

// Indices into PhysicalCables::roots of the roots at the two ends of a cable.
struct CableRoots {
  std::optional<std::size_t> at_a;
  std::optional<std::size_t> at_b;
  friend bool operator==(const CableRoots&, const CableRoots&) = default;
};

struct PhysicalCables {
  std::vector<PhysicalCable> cables;        // in the order of their lowest cables
  std::vector<SharedConnector> connectors;  // by node, then in the order of their lowest cables
  std::vector<SharedRoot> roots;            // by node, then in the order of their lowest cables
  std::vector<std::size_t> place_of_cable;  // by CableIndex: index into `cables`
  std::vector<CableRoots> roots_of_cable;   // by CableIndex
  friend bool operator==(const PhysicalCables&, const PhysicalCables&) = default;
};

// Pure. O(cables * log cables).
PhysicalCables physical_cables(const Topology& topology);

// False only if each cable is a wire of its own and shares nothing: a check that takes far less time than computing it.
bool may_share_hardware(const Topology& topology);

// "n0 eth1", "n0 plug p0": the connector's name in messages and drawings.
std::string connector_name(const Topology& topology, const PhysicalCables& physical, const SharedConnector& connector);
// "n0 root 0000:00:00.0"
std::string root_name(const Topology& topology, const SharedRoot& root);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_PHYSICAL_CABLE_H_
