// Single points of failure: nodes, cables and connectors whose failure disconnects nodes that now have a path.
#ifndef CABLEWAY_ROUTING_PATHS_WEAK_POINTS_H_
#define CABLEWAY_ROUTING_PATHS_WEAK_POINTS_H_

#include <cstddef>
#include <vector>

#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

struct WeakPoints {
  std::vector<NodeIndex> nodes;         // articulation points; sorted
  std::vector<std::size_t> cables;      // indices into physical_cables(topology).cables; sorted
  std::vector<std::size_t> connectors;  // indices into physical_cables(topology).connectors; each fails with its cables
  friend bool operator==(const WeakPoints&, const WeakPoints&) = default;
};

// The articulation points and bridges of the cabling. Parallel cables that are different wires are not bridges; twins
// of one wire are one bridge. Draining nodes count as relays: to check whether a node can fail in addition to those
// that drain, compute routes with it draining as well.
//
// J. Hopcroft and R. Tarjan, "Efficient algorithms for graph manipulation", 1973, from Boost.Graph.
// O(nodes + cables * log cables). Pure. Precondition: `physical` is physical_cables(topology).
WeakPoints weak_points(const Topology& topology, const PhysicalCables& physical);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_WEAK_POINTS_H_
