#include "routing/paths/route_table.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

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

// The rank of flow 0 (see path_for_flow()).
std::size_t first_rank(const std::vector<Path>& paths) {
  const std::optional<CableIndex> cable = first_cable_not_shared(paths);
  if (!cable) return 0;
  for (std::size_t rank = 0; rank < paths.size(); ++rank) {
    const std::vector<CableIndex>& cables = paths[rank].cables;
    const auto it = std::find(cables.begin(), cables.end(), *cable);
    if (it != cables.end()) return rank + static_cast<std::size_t>(std::distance(cables.begin(), it));
  }
  return 0;
}

std::size_t rank_of_flow(const std::vector<Path>& paths, std::uint64_t ordinal) {
  return (first_rank(paths) % paths.size() + ordinal % paths.size()) % paths.size();
}

}  // namespace

Route RouteTable::route_to(NodeIndex destination) const {
  Route route;
  route.destination = destination;
  if (!reaches(destination)) return route;
  route.cost = shortest_.cost_to(destination);
  for (Path& path : ranked_shortest_paths(shortest_, destination, kMaxPathsPerRoute)) {
    std::uint64_t slowest = std::numeric_limits<std::uint64_t>::max();
    for (const CableIndex cable : path.cables) slowest = std::min(slowest, rate_mbps_[cable.value]);
    route.paths.push_back({std::move(path), slowest});
  }
  return route;
}

Path RouteTable::path_for_flow(NodeIndex destination, std::uint64_t ordinal) const {
  std::vector<Path> paths = ranked_shortest_paths(shortest_, destination, kMaxPathsPerRoute);
  if (paths.empty()) return {};
  return std::move(paths[rank_of_flow(paths, ordinal)]);
}

std::pair<Path, Path> RouteTable::paths_for_flow_and_back(NodeIndex destination, std::uint64_t ordinal) const {
  std::vector<Path> paths = ranked_shortest_paths(shortest_, destination, kMaxPathsPerRoute);
  if (paths.empty()) return {};
  Path there = paths[rank_of_flow(paths, ordinal)];
  for (Path& path : paths) path = reversed(std::move(path));
  return {std::move(there), std::move(paths[rank_of_flow(paths, ordinal)])};
}

RouteTable compute_routes(const Topology& topology, NodeIndex self, std::uint64_t version) {
  std::vector<std::uint64_t> rate_mbps;
  rate_mbps.reserve(topology.cable_count());
  for (const Cable& cable : topology.cables()) rate_mbps.push_back(cable.rate_mbps);
  return {shortest_paths_from(topology, self), std::move(rate_mbps), version};
}

}  // namespace cableway::routing
