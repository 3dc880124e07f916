// One node's routes to all others: for each destination its ranked equal-cost shortest paths.
//
// A RouteTable is an immutable value: safe to read from any thread, equal to any other computed from the same topology
// for the same node. The caller sets its version, which records when it was computed and does not affect equality. It
// holds the node's shortest-path graph, O(nodes + cables), and lists the paths to a destination on request, because
// listing all of them for a long line would take gigabytes.
#ifndef CABLEWAY_ROUTING_PATHS_ROUTE_TABLE_H_
#define CABLEWAY_ROUTING_PATHS_ROUTE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "routing/paths/cable_parts.h"
#include "routing/paths/path.h"
#include "routing/paths/shortest_paths.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxPathsPerRoute = 16;

struct RankedPath {
  Path path;
  // The path's share when one flow is striped over several paths: the rate of its slowest cable, in Mbit/s. The largest
  // representable number for the path of no cables.
  std::uint64_t weight_mbps = 0;
  friend bool operator==(const RankedPath&, const RankedPath&) = default;
};

struct Route {
  NodeIndex destination;
  PathCost cost;                  // the same for all paths
  std::vector<RankedPath> paths;  // empty: unreachable; each shares the least with those before it (path_set.h)
  friend bool operator==(const Route&, const Route&) = default;
};

class RouteTable {
 public:
  NodeIndex self() const { return shortest_.source(); }
  std::uint64_t version() const { return version_; }
  std::size_t node_count() const { return shortest_.node_count(); }

  // Whether a path exists. False for an index that is not in the topology.
  bool reaches(NodeIndex destination) const { return shortest_.reaches(destination); }

  // All equal-cost shortest paths, or kMaxPathsPerRoute of them if there are more. The reverse route lists the same
  // paths reversed, in the same order. To self(): one path of no cables.
  Route route_to(NodeIndex destination) const;

  // The path for the `ordinal`-th flow from self() to `destination`; exists() is false if !reaches(destination).
  //
  // Flows k and k + 1 take different paths if there are two. Flow 0's start is chosen so that pairs of nodes spread
  // without seeing each other's choice: let c be the lowest-numbered cable that some but not all of the paths use, p
  // the first ranked path through c, and t the number of cables of p before c. Flow 0 takes the path t ranks after p,
  // the others the ranks after it in turn. On a ring, c is the same cable for all opposite pairs and t is the distance
  // from it, so neighbouring sources start in opposite directions: with an even number of nodes, flow 0 of every
  // opposite pair together load all cables in both directions evenly (4-ring: each exactly once; 6-ring: once or
  // twice).
  //
  // Paths over the same wires (twins of a split plug) count as one rank for that. Of them, flow 0 takes the one that
  // shares the most with p if it leaves by the first plug of self(), the least if by the second, and so on in turn:
  // flows over different plugs start on different functions. Where paths share wires, ports, plugs or roots, flow k
  // takes the k-th path in the ranking that would begin with flow 0's, so that each flow shares the least with those
  // before it. On a ring of hosts with split plugs (sparks:4), flows 0 and 1 of an opposite pair go around both ways
  // and over both PCIe links of every host, and flow 0 of all pairs together load all PCIe links alike.
  Path path_for_flow(NodeIndex destination, std::uint64_t ordinal) const;

  // The equal-cost shortest paths (kMaxPathsPerRoute at most) in the order in which the flows from `ordinal` on take
  // them: the first is path_for_flow(). Empty if !reaches(destination).
  std::vector<Path> paths_from_flow(NodeIndex destination, std::uint64_t ordinal) const;
  // Any paths of equal cost from self() to one other node, in the order in which the flows from `ordinal` on would take
  // them if they were the shortest ones.
  std::vector<Path> in_order_of_flows(std::vector<Path> paths, std::uint64_t ordinal) const;

  // Of flows 0 to `flows` - 1: path_for_flow(), and the path that the other node's table gives to that flow from there
  // to self(). For callers that visit all pairs of nodes: the paths are ranked once.
  std::vector<std::pair<Path, Path>> paths_for_flows_and_back(NodeIndex destination, std::size_t flows) const;

  const ShortestPaths& shortest_paths() const { return shortest_; }
  // What cables of the topology share; null if they share nothing.
  const CableParts* parts() const { return parts_.get(); }

  friend bool operator==(const RouteTable& left, const RouteTable& right) {
    const bool same_parts = left.parts_ == right.parts_ ||
                            (left.parts_ != nullptr && right.parts_ != nullptr && *left.parts_ == *right.parts_);
    return same_parts && left.shortest_ == right.shortest_ && left.rate_mbps_ == right.rate_mbps_;
  }

 private:
  friend RouteTable compute_routes(const Topology& topology, std::shared_ptr<const CableParts> parts, NodeIndex self,
                                   std::uint64_t version);
  RouteTable(ShortestPaths shortest, std::vector<std::uint64_t> rate_mbps, std::shared_ptr<const CableParts> parts,
             std::uint64_t version)
      : shortest_(std::move(shortest)), rate_mbps_(std::move(rate_mbps)), parts_(std::move(parts)), version_(version) {}

  std::vector<Path> ranked_to(NodeIndex destination) const;
  std::size_t first_rank(const std::vector<Path>& paths) const;
  // Of the flows from `ordinal` on. Precondition: there are paths.
  std::vector<std::size_t> places_of_flows(const std::vector<Path>& paths, std::uint64_t ordinal,
                                           std::size_t flows) const;

  ShortestPaths shortest_;
  std::vector<std::uint64_t> rate_mbps_;  // by cable
  std::shared_ptr<const CableParts> parts_;
  std::uint64_t version_;
};

// Pure. Precondition: `self` is a node of `topology`.
RouteTable compute_routes(const Topology& topology, NodeIndex self, std::uint64_t version = 0);

// For the tables of several nodes: `parts` is CableParts::find() of the topology.
RouteTable compute_routes(const Topology& topology, std::shared_ptr<const CableParts> parts, NodeIndex self,
                          std::uint64_t version = 0);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_ROUTE_TABLE_H_
