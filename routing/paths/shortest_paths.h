// All shortest paths from one node, as a graph: for every node, the last steps of its shortest paths.
//
// The cost is PathCost: fewest cables, then least latency. A search finds the costs (path_cost.h); a second scan of the
// cables finds every step whose cost adds up. No path crosses a draining node.
#ifndef CABLEWAY_ROUTING_PATHS_SHORTEST_PATHS_H_
#define CABLEWAY_ROUTING_PATHS_SHORTEST_PATHS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/paths/path.h"
#include "routing/paths/path_cost.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

class ShortestPaths {
 public:
  NodeIndex source() const { return source_; }
  std::size_t node_count() const { return cost_.size(); }

  // False for an index that is not in the topology.
  bool reaches(NodeIndex node) const;

  // Precondition: reaches(node).
  PathCost cost_to(NodeIndex node) const;

  // The last steps of the shortest paths to `node`: its neighbour one step closer to the source, and the cable.
  // Sorted by neighbour, then cable. Empty for the source. Precondition: reaches(node).
  std::span<const Adjacency> last_steps(NodeIndex node) const;

  friend bool operator==(const ShortestPaths&, const ShortestPaths&) = default;

 private:
  friend ShortestPaths shortest_paths_from(const Topology& topology, NodeIndex source);
  ShortestPaths() = default;

  NodeIndex source_;
  std::vector<PackedCost> cost_;                 // by node
  std::vector<Adjacency> last_steps_;            // of node 0, then of node 1, ..
  std::vector<std::uint32_t> last_steps_begin_;  // node_count() + 1 offsets into last_steps_
};

// Pure. Precondition: `source` is a node of `topology`.
ShortestPaths shortest_paths_from(const Topology& topology, NodeIndex source);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_SHORTEST_PATHS_H_
