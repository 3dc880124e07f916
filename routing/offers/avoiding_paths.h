// Paths that avoid points of failure, as far as the graph allows it.
#ifndef CABLEWAY_ROUTING_OFFERS_AVOIDING_PATHS_H_
#define CABLEWAY_ROUTING_OFFERS_AVOIDING_PATHS_H_

#include <utility>

#include "routing/offers/points_of_failure.h"
#include "routing/paths/path.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// Both functions: no path crosses a draining node. O((nodes + cables) * log(nodes)). Pure. Precondition: `points` is of
// `topology` and `physical`; source and destination differ, and a path joins them.

// Of the paths with the fewest points of `avoided`, the cheapest. (A connector through which a path enters and leaves a
// relay counts twice.)
Path path_avoiding(const Topology& topology, const PhysicalCables& physical, const PointsOfFailure& points,
                   NodeIndex source, NodeIndex destination, const PointSet& avoided);

// Two paths that have in common only points of failure that every path has (K. Menger, 1927), at the least total cost.
// The two are equal if there is only one path.
std::pair<Path, Path> surviving_paths(const Topology& topology, const PhysicalCables& physical,
                                      const PointsOfFailure& points, NodeIndex source, NodeIndex destination);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_OFFERS_AVOIDING_PATHS_H_
