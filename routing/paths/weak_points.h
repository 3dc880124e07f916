// Where one failure cuts nodes off from each other that now have a path.
#ifndef CABLEWAY_ROUTING_PATHS_WEAK_POINTS_H_
#define CABLEWAY_ROUTING_PATHS_WEAK_POINTS_H_

#include <cstddef>
#include <vector>

#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

struct WeakPoints {
  std::vector<NodeIndex> nodes;         // without which others lose each other; sorted
  std::vector<std::size_t> cables;      // places in physical_cables(topology).cables; sorted
  std::vector<std::size_t> connectors;  // places in physical_cables(topology).connectors, failing with all their cables
  friend bool operator==(const WeakPoints&, const WeakPoints&) = default;
};

// The articulation points and bridges of the cabling. Parallel cables that are different wires are no bridges; twins of
// one wire are one. Draining nodes count as any others: whether a node can be spared on top of those that drain, a
// route computation with it draining says.
//
// J. Hopcroft and R. Tarjan, "Efficient algorithms for graph manipulation", 1973, from Boost.Graph.
// O(nodes + cables * log cables). Pure. Precondition: `physical` is physical_cables(topology).
WeakPoints weak_points(const Topology& topology, const PhysicalCables& physical);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_WEAK_POINTS_H_
