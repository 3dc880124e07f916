#include "routing/paths/route_table.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <span>

#include "routing/paths/path_set.h"

namespace cableway::routing {
namespace {

// The lowest-numbered cable that some but not all of the paths use. All paths are shortest, so a cable that several use
// is equally many hops from the source on each of them.
std::optional<CableIndex> first_cable_not_shared(const std::vector<Path>& paths) {
  std::optional<CableIndex> first;
  for (std::size_t hop = 0; hop < paths.front().hops(); ++hop) {
    const auto [lowest, highest] = std::minmax_element(
        paths.begin(), paths.end(),
        [hop](const Path& left, const Path& right) { return left.cables[hop] < right.cables[hop]; });
    if (lowest->cables[hop] == highest->cables[hop]) continue;
    if (!first || lowest->cables[hop] < *first) first = lowest->cables[hop];
  }
  return first;
}

bool cross_same_wires(const Path& left, const Path& right, const CableParts& parts) {
  return std::equal(left.cables.begin(), left.cables.end(), right.cables.begin(), right.cables.end(),
                    [&](CableIndex a, CableIndex b) { return parts.wire(a) == parts.wire(b); });
}

// The weight of what the two paths share. A node is equally far from the source on all shortest paths, so paths share
// only parts of the same hop.
std::uint64_t shared_weight(const Path& left, const Path& right, const CableParts& parts) {
  std::uint64_t weight = 0;
  for (std::size_t hop = 0; hop < left.hops(); ++hop) {
    const auto of = [&](const Path& path) { return parts.of(path.cables[hop], path.nodes[hop] < path.nodes[hop + 1]); };
    const std::span<const PartUse> others = of(right);
    for (const PartUse& use : of(left)) {
      weight += std::find(others.begin(), others.end(), use) != others.end() ? use.weight : 0;
    }
  }
  return weight;
}

// The place of flow 0's path. Its wires are `steps` after those of the path at `like` in the circular order of ranks.
// Of the paths over these wires it is the one that shares the most with the path at `like` if they leave the node at
// its first plug, the least if at its second, and so on in turn.
std::size_t place_over_next_wires(const std::vector<Path>& paths, std::size_t like, std::size_t steps,
                                  const CableParts& parts) {
  std::vector<std::size_t> first_over;  // for each list of wires: the first place over it, from `like` on
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::size_t place = (like + i) % paths.size();
    const bool is_new = std::none_of(first_over.begin(), first_over.end(), [&](std::size_t first) {
      return cross_same_wires(paths[first], paths[place], parts);
    });
    if (is_new) first_over.push_back(place);
  }
  const Path& wires = paths[first_over[steps % first_over.size()]];
  const bool takes_most = parts.plug_place(wires.cables.front(), wires.nodes[0] < wires.nodes[1]) % 2 == 0;
  std::optional<std::size_t> best;
  std::uint64_t best_weight = 0;
  for (std::size_t place = 0; place < paths.size(); ++place) {
    if (!cross_same_wires(paths[place], wires, parts)) continue;
    const std::uint64_t weight = shared_weight(paths[place], paths[like], parts);
    if (best && (takes_most ? weight <= best_weight : weight >= best_weight)) continue;
    best = place;
    best_weight = weight;
  }
  return *best;
}

}  // namespace

std::vector<Path> RouteTable::ranked_to(NodeIndex destination) const {
  return ranked_shortest_paths(shortest_, destination, kMaxPathsPerRoute, parts_.get());
}

// The rank of flow 0 (see path_for_flow()).
std::size_t RouteTable::first_rank(const std::vector<Path>& paths) const {
  const std::optional<CableIndex> cable = first_cable_not_shared(paths);
  if (!cable) return 0;
  for (std::size_t rank = 0; rank < paths.size(); ++rank) {
    const std::vector<CableIndex>& cables = paths[rank].cables;
    const auto it = std::find(cables.begin(), cables.end(), *cable);
    if (it == cables.end()) continue;
    const std::size_t before = static_cast<std::size_t>(std::distance(cables.begin(), it));
    if (parts_ != nullptr) return place_over_next_wires(paths, rank, before, *parts_);
    return (rank + before) % paths.size();
  }
  return 0;
}

std::vector<std::size_t> RouteTable::places_of_flows(const std::vector<Path>& paths, std::uint64_t ordinal,
                                                     std::size_t flows) const {
  const std::size_t first = first_rank(paths);
  std::vector<std::size_t> places(flows, first);
  std::vector<std::size_t> spread;  // empty: not needed, or the paths are taken in turn
  const bool only_first = paths.size() == 1 || (flows == 1 && ordinal % paths.size() == 0);
  if (!only_first && parts_ != nullptr && share_parts(paths, *parts_)) spread = spread_from(paths, first, *parts_);
  for (std::size_t i = 0; i < flows; ++i) {
    const std::size_t turn = (ordinal % paths.size() + i) % paths.size();
    places[i] = spread.empty() ? (first + turn) % paths.size() : spread[turn];
  }
  return places;
}

Route RouteTable::route_to(NodeIndex destination) const {
  Route route;
  route.destination = destination;
  if (!reaches(destination)) return route;
  route.cost = shortest_.cost_to(destination);
  for (Path& path : ranked_to(destination)) {
    std::uint64_t slowest = std::numeric_limits<std::uint64_t>::max();
    for (const CableIndex cable : path.cables) slowest = std::min(slowest, rate_mbps_[cable.value]);
    route.paths.push_back({std::move(path), slowest});
  }
  return route;
}

Path RouteTable::path_for_flow(NodeIndex destination, std::uint64_t ordinal) const {
  std::vector<Path> paths = ranked_to(destination);
  if (paths.empty()) return {};
  return std::move(paths[places_of_flows(paths, ordinal, 1).front()]);
}

std::vector<Path> RouteTable::paths_from_flow(NodeIndex destination, std::uint64_t ordinal) const {
  return in_order_of_flows(ranked_to(destination), ordinal);
}

std::vector<Path> RouteTable::in_order_of_flows(std::vector<Path> paths, std::uint64_t ordinal) const {
  if (paths.size() < 2) return paths;
  std::vector<Path> ordered;
  ordered.reserve(paths.size());
  for (const std::size_t place : places_of_flows(paths, ordinal, paths.size())) {
    ordered.push_back(std::move(paths[place]));
  }
  return ordered;
}

std::vector<std::pair<Path, Path>> RouteTable::paths_for_flows_and_back(NodeIndex destination,
                                                                        std::size_t flows) const {
  std::vector<std::pair<Path, Path>> chosen(flows);
  std::vector<Path> paths = ranked_to(destination);
  if (paths.empty()) return chosen;
  const std::vector<std::size_t> there = places_of_flows(paths, 0, flows);
  for (std::size_t i = 0; i < flows; ++i) chosen[i].first = paths[there[i]];
  for (Path& path : paths) path = reversed(std::move(path));
  const std::vector<std::size_t> back = places_of_flows(paths, 0, flows);
  for (std::size_t i = 0; i < flows; ++i) chosen[i].second = paths[back[i]];
  return chosen;
}

RouteTable compute_routes(const Topology& topology, NodeIndex self, std::uint64_t version) {
  return compute_routes(topology, CableParts::find(topology), self, version);
}

RouteTable compute_routes(const Topology& topology, std::shared_ptr<const CableParts> parts, NodeIndex self,
                          std::uint64_t version) {
  std::vector<std::uint64_t> rate_mbps;
  rate_mbps.reserve(topology.cable_count());
  for (const Cable& cable : topology.cables()) rate_mbps.push_back(cable.rate_mbps);
  return {shortest_paths_from(topology, self), std::move(rate_mbps), std::move(parts), version};
}

}  // namespace cableway::routing
