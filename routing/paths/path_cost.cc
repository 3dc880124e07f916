#include "routing/paths/path_cost.h"

#include <algorithm>
#include <cstddef>

namespace cableway::routing {

PathCost cost_of(const Topology& topology, const Path& path) {
  PackedCost cost = 0;
  for (const CableIndex cable : path.cables) cost += packed_cost(topology, cable);
  return unpacked(cost);
}

std::vector<PackedCost> costs_from(const Topology& topology, NodeIndex source, const std::vector<bool>& closed) {
  std::vector<PackedCost> cost(topology.node_count(), kUnreachable);
  cost[source.value] = 0;
  std::vector<NodeIndex> found;
  found.reserve(topology.node_count());
  found.push_back(source);
  for (std::size_t next = 0; next < found.size(); ++next) {
    // All nodes one hop closer have been expanded, so the cost of this node is final.
    const NodeIndex node = found[next];
    if (!may_leave(topology, source, node)) continue;
    const PackedCost here = cost[node.value];
    for (const Adjacency& adjacency : topology.adjacencies(node)) {
      PackedCost& there = cost[adjacency.neighbour.value];
      if (there == kUnreachable) {
        if (!closed.empty() && closed[adjacency.neighbour.value]) continue;
        found.push_back(adjacency.neighbour);
      }
      there = std::min(there, here + packed_cost(topology, adjacency.cable));
    }
  }
  return cost;
}

}  // namespace cableway::routing
