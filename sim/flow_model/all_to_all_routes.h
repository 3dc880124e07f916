// The paths of an all_to_all: kFlowsPerPair flows from every node to every other, as nodes choose them
// (RouteTable::path_for_flow, flows 0, 1, ..); how they change when cables fail or some are added; and each pair's rate
// when all send at once.
#ifndef CABLEWAY_SIM_FLOW_MODEL_ALL_TO_ALL_ROUTES_H_
#define CABLEWAY_SIM_FLOW_MODEL_ALL_TO_ALL_ROUTES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/paths/cable_parts.h"
#include "routing/paths/route_table.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/cable_resources.h"
#include "sim/flow_model/max_min_shares.h"

namespace cableway::sim {

// A higher limit would take too much memory and time for the paths of all pairs.
inline constexpr std::size_t kMaxAllToAllNodes = 512;

// As many as the channels of a simulation by default. One flow has one path: it would fill one function of a split
// plug.
inline constexpr std::uint32_t kFlowsPerPair = 2;

// An ordered pair of different nodes: a source and a destination.
using PairIndex = std::uint32_t;

// A value type.
class AllToAllRoutes {
 public:
  // InvalidArgument for more than kMaxAllToAllNodes nodes.
  static absl::StatusOr<AllToAllRoutes> compute(routing::Topology topology);

  // Without some of the cables; equal to compute() of such a topology. Only pairs that could have used one of them, or
  // a cable that shares less with others afterwards, get a new path. Precondition: they are cables of topology(),
  // sorted.
  AllToAllRoutes without(std::span<const routing::CableIndex> cables) const;

  // With one more cable, or several: the functions of a split plug. The error is that of Topology::create().
  // Precondition: at least one, and all join the same two nodes.
  absl::StatusOr<AllToAllRoutes> with(std::span<const routing::Cable> added) const;

  const routing::Topology& topology() const { return topology_; }

  bool reaches(routing::NodeIndex source, routing::NodeIndex destination) const {
    return routes_[source.value].reaches(destination);
  }
  std::size_t pair_count() const { return hops_.flow_count() / kFlowsPerPair; }
  // Precondition: two different nodes. By the lower node, then the higher one, then the way: first from the lower one.
  PairIndex pair(routing::NodeIndex source, routing::NodeIndex destination) const;
  // The cables of each flow, numbered by CableDirection::resource(). Empty if there is no path. The flows of a pair are
  // those from kFlowsPerPair * pair on.
  const FlowPaths& hops() const { return hops_; }

  friend bool operator==(const AllToAllRoutes& left, const AllToAllRoutes& right) {
    return left.topology_ == right.topology_ && left.hops_ == right.hops_;
  }

 private:
  // Whether a pair's paths, the same both ways, may change, judged by the present routes.
  using IsAffected = std::function<bool(routing::NodeIndex low, routing::NodeIndex high)>;

  explicit AllToAllRoutes(routing::Topology topology);
  // Whether a shortest path of the pair crosses one of the cables.
  bool could_cross(routing::NodeIndex source, routing::NodeIndex destination,
                   std::span<const routing::CableIndex> cables) const;
  // Paths of unaffected pairs are copied from `before`, with cables renumbered.
  void find_paths(const AllToAllRoutes& before, const IsAffected& is_affected,
                  const std::vector<std::uint32_t>& new_cable);
  void add_paths(routing::NodeIndex low, routing::NodeIndex high);
  void add_path(const routing::Path& path);

  routing::Topology topology_;
  std::shared_ptr<const routing::CableParts> parts_;
  std::vector<routing::RouteTable> routes_;  // by node
  FlowPaths hops_;
};

// Rates of an all_to_all, in bytes per second.
struct AllToAllShares {
  std::uint64_t pairs = 0;      // ordered pairs of nodes that have a path
  std::uint64_t pairs_cut = 0;  // those without a path
  double least_rate = 0;        // of the slowest pair, all its flows together
  double total_rate = 0;        // at the start, when all send
  // The bottleneck of the slowest pair's slowest flow: the cable that such an all_to_all keeps busy longest; or one of
  // the cables of the wire, connector or root that is busy longest, with its kind.
  std::optional<CableDirection> hottest;
  ResourceKind hottest_kind = ResourceKind::kCable;

  friend bool operator==(const AllToAllShares&, const AllToAllShares&) = default;
};

// `shares` is reused as working memory, and has the flows' rates afterwards.
AllToAllShares all_to_all_shares(const AllToAllRoutes& routes, MaxMinShares& shares);

// The rate of a pair's flows together, after all_to_all_shares(); 0 without a path.
double pair_rate(const MaxMinShares& shares, PairIndex pair);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_ALL_TO_ALL_ROUTES_H_
