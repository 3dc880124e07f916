#include "sim/flow_model/all_to_all_routes.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/paths/path_cost.h"

namespace cableway::sim {
namespace {

using routing::Cable;
using routing::CableIndex;
using routing::NodeIndex;
using routing::PathCost;
using routing::Topology;

// The cost of the shortest paths from `source` to `destination` that cross a cable from u to v, whether or not it is in
// the topology; nullopt if there is none.
std::optional<PathCost> cost_over(const Topology& topology, const std::vector<routing::RouteTable>& routes,
                                  NodeIndex source, NodeIndex destination, NodeIndex u, NodeIndex v,
                                  std::uint64_t latency_ns) {
  const routing::ShortestPaths& from_source = routes[source.value].shortest_paths();
  const routing::ShortestPaths& from_destination = routes[destination.value].shortest_paths();
  if (!from_source.reaches(u) || !from_destination.reaches(v)) return std::nullopt;
  if (!routing::may_leave(topology, source, u) || !routing::may_leave(topology, destination, v)) return std::nullopt;
  const PathCost before = from_source.cost_to(u);
  const PathCost behind = from_destination.cost_to(v);
  return PathCost{before.hops + 1 + behind.hops, before.latency_ns + latency_ns + behind.latency_ns};
}

}  // namespace

AllToAllRoutes::AllToAllRoutes(Topology topology)
    : topology_(std::move(topology)), parts_(routing::CableParts::find(topology_)) {
  routes_.reserve(topology_.node_count());
  for (std::uint32_t node = 0; node < topology_.node_count(); ++node) {
    routes_.push_back(routing::compute_routes(topology_, parts_, NodeIndex{node}));
  }
}

PairIndex AllToAllRoutes::pair(NodeIndex source, NodeIndex destination) const {
  const auto [low, high] = std::minmax(source.value, destination.value);
  const std::size_t pair = low * (2 * topology_.node_count() - low - 1) / 2 + (high - low - 1);
  return static_cast<PairIndex>(2 * pair + (source < destination ? 0 : 1));
}

void AllToAllRoutes::add_path(const routing::Path& path) {
  std::vector<ResourceIndex> hops;
  hops.reserve(path.hops());
  for (std::size_t i = 0; i < path.hops(); ++i) {
    hops.push_back(CableDirection{path.cables[i], topology_.cable(path.cables[i]).a.node == path.nodes[i]}.resource());
  }
  hops_.add(hops);
}

// Adds the flows of both pairs of two nodes.
void AllToAllRoutes::add_paths(NodeIndex low, NodeIndex high) {
  const auto paths = routes_[low.value].paths_for_flows_and_back(high, kFlowsPerPair);
  for (const auto& [there, back] : paths) add_path(there);
  for (const auto& [there, back] : paths) add_path(back);
}

absl::StatusOr<AllToAllRoutes> AllToAllRoutes::compute(Topology topology) {
  if (topology.node_count() > kMaxAllToAllNodes) {
    return absl::InvalidArgumentError(absl::StrCat("the topology has ", topology.node_count(),
                                                   " nodes; expected at most ", kMaxAllToAllNodes,
                                                   " for an analysis of all pairs"));
  }
  AllToAllRoutes all(std::move(topology));
  const std::uint32_t nodes = static_cast<std::uint32_t>(all.topology_.node_count());
  for (std::uint32_t low = 0; low < nodes; ++low) {
    for (std::uint32_t high = low + 1; high < nodes; ++high) all.add_paths(NodeIndex{low}, NodeIndex{high});
  }
  return all;
}

void AllToAllRoutes::find_paths(const AllToAllRoutes& before, const IsAffected& is_affected,
                                const std::vector<std::uint32_t>& new_cable) {
  std::vector<ResourceIndex> hops;
  const auto keep = [&](FlowIndex flow) {
    hops.clear();
    for (const ResourceIndex hop : before.hops_.of(flow)) hops.push_back(2 * new_cable[hop / 2] + hop % 2);
    hops_.add(hops);
  };
  constexpr FlowIndex kFlowsOfTwoNodes = 2 * kFlowsPerPair;
  FlowIndex flow = 0;
  for (std::uint32_t low = 0; low < topology_.node_count(); ++low) {
    for (std::uint32_t high = low + 1; high < topology_.node_count(); ++high, flow += kFlowsOfTwoNodes) {
      if (is_affected(NodeIndex{low}, NodeIndex{high})) {
        add_paths(NodeIndex{low}, NodeIndex{high});
      } else {
        for (FlowIndex i = 0; i < kFlowsOfTwoNodes; ++i) keep(flow + i);
      }
    }
  }
}

bool AllToAllRoutes::could_cross(NodeIndex source, NodeIndex destination, std::span<const CableIndex> cables) const {
  if (!reaches(source, destination)) return false;
  const PathCost cost = routes_[source.value].shortest_paths().cost_to(destination);
  return std::any_of(cables.begin(), cables.end(), [&](CableIndex index) {
    const Cable& cable = topology_.cable(index);
    const std::uint64_t latency_ns = topology_.latency_cost_ns(index);
    return cost_over(topology_, routes_, source, destination, cable.a.node, cable.b.node, latency_ns) == cost ||
           cost_over(topology_, routes_, source, destination, cable.b.node, cable.a.node, latency_ns) == cost;
  });
}

AllToAllRoutes AllToAllRoutes::without(std::span<const CableIndex> cables) const {
  std::vector<Cable> left;
  left.reserve(topology_.cable_count());
  std::vector<std::uint32_t> new_cable(topology_.cable_count());
  auto next = cables.begin();
  for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) {
    new_cable[i] = static_cast<std::uint32_t>(left.size());
    if (next != cables.end() && next->value == i) {
      ++next;
      new_cable[i] = routing::kGoneCable;
    } else {
      left.push_back(topology_.cables()[i]);
    }
  }
  // Removing cables breaks no rule of a topology.
  AllToAllRoutes rest(
      *Topology::create(topology_.cluster(), {topology_.nodes().begin(), topology_.nodes().end()}, std::move(left)));
  std::vector<CableIndex> touched = routing::cables_with_changed_parts(parts_.get(), rest.parts_.get(), new_cable);
  touched.insert(touched.end(), cables.begin(), cables.end());
  const auto is_affected = [&](NodeIndex low, NodeIndex high) { return could_cross(low, high, touched); };
  rest.find_paths(*this, is_affected, new_cable);
  return rest;
}

absl::StatusOr<AllToAllRoutes> AllToAllRoutes::with(std::span<const Cable> added) const {
  std::vector<Cable> cables(topology_.cables().begin(), topology_.cables().end());
  cables.insert(cables.end(), added.begin(), added.end());
  absl::StatusOr<Topology> topology =
      Topology::create(topology_.cluster(), {topology_.nodes().begin(), topology_.nodes().end()}, std::move(cables));
  if (!topology.ok()) return topology.status();
  AllToAllRoutes more(*std::move(topology));
  std::vector<CableIndex> places;
  for (const Cable& cable : added) places.push_back(*more.topology_.find_cable(cable.name));
  std::sort(places.begin(), places.end());
  std::vector<std::uint32_t> new_cable(topology_.cable_count());
  std::uint32_t before = 0;  // of the added cables
  for (std::uint32_t i = 0; i < new_cable.size(); ++i) {
    while (before < places.size() && places[before].value <= i + before) ++before;
    new_cable[i] = i + before;
  }
  const std::vector<CableIndex> touched =
      routing::cables_with_changed_parts(parts_.get(), more.parts_.get(), new_cable);
  const NodeIndex a = added.front().a.node;
  const NodeIndex b = added.front().b.node;
  // They join the same nodes, so no path crosses two of them: the fastest makes the shortest.
  std::uint64_t latency_ns = more.topology_.latency_cost_ns(places.front());
  for (const CableIndex place : places) latency_ns = std::min(latency_ns, more.topology_.latency_cost_ns(place));
  const auto is_affected = [&](NodeIndex source, NodeIndex destination) {
    const auto is_as_short = [&](NodeIndex u, NodeIndex v) {
      const std::optional<PathCost> over = cost_over(topology_, routes_, source, destination, u, v, latency_ns);
      return over &&
             (!reaches(source, destination) || *over <= routes_[source.value].shortest_paths().cost_to(destination));
    };
    return is_as_short(a, b) || is_as_short(b, a) || could_cross(source, destination, touched);
  };
  more.find_paths(*this, is_affected, new_cable);
  return more;
}

namespace {

// Each flow's cables, plus the resources that these share.
FlowPaths with_shared_resources(const FlowPaths& hops, const CableResources& resources) {
  FlowPaths all;
  std::vector<ResourceIndex> used;
  for (FlowIndex flow = 0; flow < hops.flow_count(); ++flow) {
    used.clear();
    for (const ResourceIndex hop : hops.of(flow)) {
      const std::span<const ResourceIndex> of_hop = resources.of_hop({CableIndex{hop / 2}, hop % 2 == 0});
      used.insert(used.end(), of_hop.begin(), of_hop.end());
    }
    all.add(used);
  }
  return all;
}

// The cable direction of a resource: the first of those that share it.
CableDirection direction_of(ResourceIndex resource, std::size_t cable_count, const CableResources& resources) {
  for (std::uint32_t hop = 0; hop < 2 * cable_count; ++hop) {
    const CableDirection direction{CableIndex{hop / 2}, hop % 2 == 0};
    const std::span<const ResourceIndex> used = resources.of_hop(direction);
    if (std::find(used.begin(), used.end(), resource) != used.end()) return direction;
  }
  return {};
}

}  // namespace

double pair_rate(const MaxMinShares& shares, PairIndex pair) {
  double rate = 0;
  for (FlowIndex flow = kFlowsPerPair * pair; flow < kFlowsPerPair * (pair + 1); ++flow) {
    if (shares.bottlenecks()[flow] == kNoBottleneck) return 0;  // none of the pair's flows has a path
    rate += shares.rates()[flow];
  }
  return rate;
}

AllToAllShares all_to_all_shares(const AllToAllRoutes& routes, MaxMinShares& shares) {
  const CableResources resources(routes.topology());
  const bool is_shared = resources.count() > 2 * routes.topology().cable_count();
  if (is_shared) {
    shares.compute(with_shared_resources(routes.hops(), resources), resources.capacity());
  } else {
    shares.compute(routes.hops(), resources.capacity());
  }
  AllToAllShares sum;
  sum.least_rate = std::numeric_limits<double>::infinity();
  ResourceIndex hottest = kNoBottleneck;
  for (PairIndex pair = 0; pair < routes.pair_count(); ++pair) {
    const double rate = pair_rate(shares, pair);
    if (rate == 0) continue;
    ++sum.pairs;
    sum.total_rate += rate;
    if (rate >= sum.least_rate) continue;
    sum.least_rate = rate;
    const FlowIndex first = kFlowsPerPair * pair;
    const std::span<const double> flows = shares.rates().subspan(first, kFlowsPerPair);
    const auto slowest = std::min_element(flows.begin(), flows.end()) - flows.begin();
    hottest = shares.bottlenecks()[first + static_cast<std::size_t>(slowest)];
  }
  const std::uint64_t nodes = routes.topology().node_count();
  sum.pairs_cut = nodes * (nodes - 1) - sum.pairs;
  if (sum.pairs == 0) {
    sum.least_rate = 0;
  } else {
    sum.hottest = direction_of(hottest, routes.topology().cable_count(), resources);
    sum.hottest_kind = resources.kind(hottest);
  }
  return sum;
}

}  // namespace cableway::sim
