// The equal-cost shortest paths between two nodes, as a ranked list.
#ifndef CABLEWAY_ROUTING_PATHS_PATH_SET_H_
#define CABLEWAY_ROUTING_PATHS_PATH_SET_H_

#include <cstddef>
#include <vector>

#include "routing/paths/cable_parts.h"
#include "routing/paths/path.h"
#include "routing/paths/shortest_paths.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// Up to `limit` shortest paths from shortest.source() to `destination`; empty if it is unreachable.
//
// Returns all of them if there are at most `limit`. If there are more (a 4x4 torus has 24 between opposite corners, an
// 8x8 one 280), returns a spread selection: candidates evenly spaced in lexicographic order, and of those the ones that
// overlap least. Each next path shares the fewest cables with those before it; ties keep lexicographic order, seen from
// the lower-numbered of the two nodes. Both directions thus give the same paths, reversed, in the same order.
//
// If different cables of these paths share parts (`parts` is CableParts::find() of the topology, null if there are
// none), each next path shares the least weight of parts, not only the fewest cables, with those before it; and among
// equal ones the least with the path just before it.
//
// O(nodes + cables on shortest paths + limit^2 * hops).
std::vector<Path> ranked_shortest_paths(const ShortestPaths& shortest, NodeIndex destination, std::size_t limit,
                                        const CableParts* parts = nullptr);

// Whether different cables of the paths share parts. O(parts + paths * hops).
bool share_parts(const std::vector<Path>& paths, const CableParts& parts);

// The places of `paths`, which join the same two nodes in the same direction, in the order in which
// ranked_shortest_paths() would rank them if the path at `first` were the first. O(paths^2 * hops).
std::vector<std::size_t> spread_from(const std::vector<Path>& paths, std::size_t first, const CableParts& parts);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_PATH_SET_H_
