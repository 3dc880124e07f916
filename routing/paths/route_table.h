// How one node reaches every other: for each destination its ranked equal-cost shortest paths.
//
// A RouteTable is an immutable value: safe to read from any thread, equal to any other computed from the same topology
// for the same node. Its version is the caller's and says when it was computed, not what it holds: tables that differ
// in nothing else are equal. It holds the node's shortest-path graph, O(nodes + cables); the paths to a destination are
// listed when asked for, because listing all of them for a long line would take gigabytes.
#ifndef CABLEWAY_ROUTING_PATHS_ROUTE_TABLE_H_
#define CABLEWAY_ROUTING_PATHS_ROUTE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "routing/paths/path.h"
#include "routing/paths/shortest_paths.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxPathsPerRoute = 16;

struct RankedPath {
  Path path;
  // The path's share where one flow is striped over several paths: the rate of its slowest cable, in Mbit/s. The
  // largest number there is for the path of no cables.
  std::uint64_t weight_mbps = 0;
  friend bool operator==(const RankedPath&, const RankedPath&) = default;
};

struct Route {
  NodeIndex destination;
  PathCost cost;                  // the same for all paths
  std::vector<RankedPath> paths;  // empty: unreachable. Each next one shares the fewest cables with those before it.
  friend bool operator==(const Route&, const Route&) = default;
};

class RouteTable {
 public:
  NodeIndex self() const { return shortest_.source(); }
  std::uint64_t version() const { return version_; }
  std::size_t node_count() const { return shortest_.node_count(); }

  // Whether a path exists. False also for an index that the topology does not have.
  bool reaches(NodeIndex destination) const { return shortest_.reaches(destination); }

  // All equal-cost shortest paths, or kMaxPathsPerRoute of them where there are more. The route back lists the same
  // paths reversed, in the same order. To self(): one path of no cables.
  Route route_to(NodeIndex destination) const;

  // The path for the `ordinal`-th flow from self() to `destination`; one that does not exist() if
  // !reaches(destination).
  //
  // Flows k and k + 1 take different paths where there are two. Where flow 0 starts is chosen so that pairs of nodes
  // that cannot see each other's choice still spread: let c be the lowest-numbered cable that some but not all of the
  // paths use, p the first ranked path through c, and t how many cables of p come before c. Flow 0 takes the path t
  // ranks after p. On a ring, c is the same cable for all opposite pairs and t counts away from it, so neighbouring
  // sources start in opposite directions: with an even number of nodes, flow 0 of every opposite pair together load all
  // cables in both directions evenly (4-ring: each exactly once; 6-ring: once or twice).
  Path path_for_flow(NodeIndex destination, std::uint64_t ordinal) const;

  // The same, and what the other node's table says of the `ordinal`-th flow from there to self(): for who looks at all
  // pairs of nodes, at half the price.
  std::pair<Path, Path> paths_for_flow_and_back(NodeIndex destination, std::uint64_t ordinal) const;

  const ShortestPaths& shortest_paths() const { return shortest_; }

  friend bool operator==(const RouteTable& left, const RouteTable& right) {
    return left.shortest_ == right.shortest_ && left.rate_mbps_ == right.rate_mbps_;
  }

 private:
  friend RouteTable compute_routes(const Topology& topology, NodeIndex self, std::uint64_t version);
  RouteTable(ShortestPaths shortest, std::vector<std::uint64_t> rate_mbps, std::uint64_t version)
      : shortest_(std::move(shortest)), rate_mbps_(std::move(rate_mbps)), version_(version) {}

  ShortestPaths shortest_;
  std::vector<std::uint64_t> rate_mbps_;  // by cable
  std::uint64_t version_;
};

// Pure. Precondition: `self` is a node of `topology`.
RouteTable compute_routes(const Topology& topology, NodeIndex self, std::uint64_t version = 0);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_ROUTE_TABLE_H_
