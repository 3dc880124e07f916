#include "routing/paths/shortest_paths.h"

namespace cableway::routing {

ShortestPaths shortest_paths_from(const Topology& topology, NodeIndex source) {
  ShortestPaths shortest;
  shortest.source_ = source;
  shortest.cost_ = costs_from(topology, source);
  shortest.last_steps_.reserve(topology.cable_count());
  shortest.last_steps_begin_.reserve(topology.node_count() + 1);
  shortest.last_steps_begin_.push_back(0);
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    const PackedCost cost = shortest.cost_[node];
    if (cost != kUnreachable) {
      for (const Adjacency& adjacency : topology.adjacencies(NodeIndex{node})) {
        const PackedCost nearer = shortest.cost_[adjacency.neighbour.value];
        if (nearer >= cost || !may_leave(topology, source, adjacency.neighbour)) continue;
        if (nearer + packed_cost(topology, adjacency.cable) == cost) shortest.last_steps_.push_back(adjacency);
      }
    }
    shortest.last_steps_begin_.push_back(static_cast<std::uint32_t>(shortest.last_steps_.size()));
  }
  return shortest;
}

bool ShortestPaths::reaches(NodeIndex node) const {
  return node.value < cost_.size() && cost_[node.value] != kUnreachable;
}

PathCost ShortestPaths::cost_to(NodeIndex node) const {
  return unpacked(cost_[node.value]);
}

std::span<const Adjacency> ShortestPaths::last_steps(NodeIndex node) const {
  const std::uint32_t begin = last_steps_begin_[node.value];
  return std::span(last_steps_).subspan(begin, last_steps_begin_[node.value + 1] - begin);
}

}  // namespace cableway::routing
