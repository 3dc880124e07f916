// What a change of topology changed in the routes of a node.
#ifndef CABLEWAY_ROUTING_PATHS_ROUTE_DIFF_H_
#define CABLEWAY_ROUTING_PATHS_ROUTE_DIFF_H_

#include <cstddef>
#include <string>
#include <vector>

#include "routing/paths/path.h"
#include "routing/paths/route_table.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

struct RouteChange {
  std::string destination;
  PathCost cost_before;
  PathCost cost_after;
  std::size_t paths_before = 0;
  std::size_t paths_after = 0;
  friend bool operator==(const RouteChange&, const RouteChange&) = default;
};

// Destinations by name, each list in the topology's order of nodes. The paths themselves are not in it, as those of a
// long line would take gigabytes: who shows them asks the two tables for the destinations that it shows.
struct RouteDiff {
  std::vector<std::string> added;    // reached now, not before
  std::vector<std::string> removed;  // reached before, not now
  std::vector<RouteChange> changed;  // cost, or ranked paths (their nodes, cables, weights or order)

  bool is_empty() const { return added.empty() && removed.empty() && changed.empty(); }
  friend bool operator==(const RouteDiff&, const RouteDiff&) = default;
};

// Nodes and cables are the same if their names are, as indices of two topologies do not compare. Lists paths only of
// destinations whose shortest-path graph changed: O(nodes + cables) and those. Pure. Precondition: each table was
// computed from the topology beside it.
RouteDiff diff_routes(const Topology& old_topology, const RouteTable& old_routes, const Topology& new_topology,
                      const RouteTable& new_routes);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_ROUTE_DIFF_H_
