// The joint capacities of cables (routing/topology/physical_cable.h) as the arcs of a flow network: for maximum flows
// and minimum cuts.
#ifndef CABLEWAY_ROUTING_PATHS_CAPACITY_ARCS_H_
#define CABLEWAY_ROUTING_PATHS_CAPACITY_ARCS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

struct CapacityArc {
  std::uint32_t from = 0;  // vertices
  std::uint32_t to = 0;
  std::uint64_t rate_mbps = 0;
};

// The first vertices are the nodes, by NodeIndex; the others stand for capacities between them.
struct CapacityArcs {
  std::size_t vertices = 0;
  std::vector<CapacityArc> arcs;  // each direction has its own
};

// A unit of flow passes these, if its cable has them:
//
//     node - root (out) - connector (out) - wire - connector (in) - root (in) - node
//
// Flow mixes at a connector or wire: it may come from one cable's root and continue to another cable's, which data
// cannot. So the maximum flow is an upper bound of what the cables can carry. It is exact unless a wire or connector
// with cables behind different roots is slower than these cables together: otherwise, as on hosts with split plugs
// whose functions are as slow as their roots, each cable is an arc of its own between the roots at its ends.
//
// Cables to nodes that do not take part are left out. O(cables * log cables). Pure. Precondition: `physical` is
// physical_cables(topology).
CapacityArcs capacity_arcs(const Topology& topology, const PhysicalCables& physical,
                           const std::function<bool(NodeIndex)>& takes_part);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_CAPACITY_ARCS_H_
