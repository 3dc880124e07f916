// The k best loop-free paths between two nodes, including paths longer than the shortest.
#ifndef CABLEWAY_ROUTING_PATHS_LOOP_FREE_PATHS_H_
#define CABLEWAY_ROUTING_PATHS_LOOP_FREE_PATHS_H_

#include <cstddef>
#include <vector>

#include "routing/paths/path.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxLoopFreePaths = 256;

// The first `count` (at most kMaxLoopFreePaths) paths in the order of PathCost, then of their cables as seen from the
// lower-numbered of the two nodes. Fewer if fewer exist; empty if the destination is unreachable. Both directions give
// the same paths, reversed, in the same order. No path crosses a draining node. From a node to itself: one path of no
// cables.
//
// J. Y. Yen, "Finding the k shortest loopless paths in a network", 1971, with E. L. Lawler's partition (1972), so that
// no candidate is found twice. O(count * hops * (nodes + cables)) time, O(count * hops + nodes + cables) memory. Pure.
// Precondition: both are nodes of `topology`.
std::vector<Path> loop_free_paths(const Topology& topology, NodeIndex source, NodeIndex destination, std::size_t count);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_LOOP_FREE_PATHS_H_
