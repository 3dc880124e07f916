// An explicit path through a topology: relays never look up a next hop.
#ifndef CABLEWAY_ROUTING_PATHS_PATH_H_
#define CABLEWAY_ROUTING_PATHS_PATH_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// nodes.size() == cables.size() + 1; cables[i] joins nodes[i] and nodes[i + 1]; no node occurs twice.
// From a node to itself: one node, no cables. A path that does not exist: no nodes.
struct Path {
  std::vector<CableIndex> cables;
  std::vector<NodeIndex> nodes;

  bool exists() const { return !nodes.empty(); }
  std::size_t hops() const { return cables.size(); }
  std::size_t relays() const { return cables.empty() ? 0 : cables.size() - 1; }
  friend auto operator<=>(const Path&, const Path&) = default;
};

inline Path reversed(Path path) {
  std::reverse(path.cables.begin(), path.cables.end());
  std::reverse(path.nodes.begin(), path.nodes.end());
  return path;
}

// Orders paths: fewer cables first, then less latency, in steps of 10 ms of each cable
// (Topology::latency_cost_ns()). path_latency.h has the latency itself.
struct PathCost {
  std::uint32_t hops = 0;
  std::uint64_t latency_ns = 0;
  friend auto operator<=>(const PathCost&, const PathCost&) = default;
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_PATH_H_
