#include "routing/path_set.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace cableway::routing {
namespace {

constexpr std::size_t kCandidatesPerPath = 4;

// The part of the shortest-path graph that lies between two nodes, directed from the lower-numbered (`low`) to the
// other
// (`high`), with the number of paths from each node to `high`. Paths have numbers, in lexicographic order of their
// steps.
class PathGraph {
 public:
  // Precondition: shortest.reaches(destination).
  PathGraph(const ShortestPaths& shortest, NodeIndex destination);

  // Saturates at 2^63: then the paths with the highest numbers have none, which costs only variety.
  std::uint64_t path_count() const { return path_count_[low_.value]; }

  // From `low` to `high`. Precondition: number < path_count().
  Path path(std::uint64_t number) const;

 private:
  void collect_steps(const ShortestPaths& shortest, NodeIndex destination);
  void count_paths();

  NodeIndex low_;
  NodeIndex high_;
  std::vector<std::vector<Adjacency>> steps_;  // by node, towards `high`, sorted; empty off the paths and at `high`
  std::vector<std::uint64_t> path_count_;      // by node; 0 off the paths
};

PathGraph::PathGraph(const ShortestPaths& shortest, NodeIndex destination)
    : low_(std::min(shortest.source(), destination)),
      high_(std::max(shortest.source(), destination)),
      steps_(shortest.node_count()),
      path_count_(shortest.node_count(), 0) {
  collect_steps(shortest, destination);
  count_paths();
}

void PathGraph::collect_steps(const ShortestPaths& shortest, NodeIndex destination) {
  const bool towards_source = destination == low_;
  std::vector<bool> seen(shortest.node_count(), false);
  std::vector<NodeIndex> found = {destination};
  seen[destination.value] = true;
  for (std::size_t next = 0; next < found.size(); ++next) {
    const NodeIndex node = found[next];
    for (const Adjacency& step : shortest.last_steps(node)) {
      if (towards_source) {
        steps_[node.value].push_back(step);
      } else {
        steps_[step.neighbour.value].push_back({node, step.cable});
      }
      if (seen[step.neighbour.value]) continue;
      seen[step.neighbour.value] = true;
      found.push_back(step.neighbour);
    }
  }
  for (const NodeIndex node : found) std::sort(steps_[node.value].begin(), steps_[node.value].end());
}

void PathGraph::count_paths() {
  // Breadth first from `low`: every step is one hop nearer to `high`, so later nodes never lead to earlier ones.
  std::vector<NodeIndex> order = {low_};
  std::vector<bool> seen(steps_.size(), false);
  seen[low_.value] = true;
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const Adjacency& step : steps_[order[next].value]) {
      if (seen[step.neighbour.value]) continue;
      seen[step.neighbour.value] = true;
      order.push_back(step.neighbour);
    }
  }
  constexpr std::uint64_t kSaturated = std::uint64_t{1} << 63;
  path_count_[high_.value] = 1;
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    std::uint64_t& count = path_count_[node->value];
    for (const Adjacency& step : steps_[node->value]) {
      count = std::min(kSaturated, count + std::min(kSaturated - 1, path_count_[step.neighbour.value]));
    }
  }
}

Path PathGraph::path(std::uint64_t number) const {
  Path path;
  NodeIndex node = low_;
  path.nodes.push_back(node);
  while (node != high_) {
    for (const Adjacency& step : steps_[node.value]) {
      const std::uint64_t count = path_count_[step.neighbour.value];
      if (number < count) {
        node = step.neighbour;
        path.cables.push_back(step.cable);
        path.nodes.push_back(node);
        break;
      }
      number -= count;
    }
  }
  return path;
}

// All paths, or `wanted` of them whose numbers are evenly apart.
std::vector<Path> candidates(const PathGraph& graph, std::uint64_t wanted) {
  const std::uint64_t count = graph.path_count();
  const std::uint64_t kept = std::min(count, wanted);
  std::vector<Path> paths;
  paths.reserve(kept);
  for (std::uint64_t i = 0; i < kept; ++i) {
    paths.push_back(graph.path(count / kept * i + count % kept * i / kept));  // count * i / kept, without overflow
  }
  return paths;
}

// Moves the path that shares the fewest cables with all before it to the front of the rest, `limit` times.
void rank_by_overlap(std::vector<Path>& paths, std::size_t limit) {
  std::map<CableIndex, std::size_t> uses;
  const auto overlap = [&](const Path& path) {
    std::size_t sum = 0;
    for (const CableIndex cable : path.cables) {
      if (const auto it = uses.find(cable); it != uses.end()) sum += it->second;
    }
    return sum;
  };
  for (std::size_t rank = 0; rank < std::min(limit, paths.size()); ++rank) {
    std::size_t best = rank;
    std::size_t best_overlap = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = rank; i < paths.size(); ++i) {
      const std::size_t candidate_overlap = overlap(paths[i]);
      if (candidate_overlap < best_overlap) {
        best = i;
        best_overlap = candidate_overlap;
      }
    }
    for (const CableIndex cable : paths[best].cables) ++uses[cable];
    const auto place = paths.begin() + static_cast<std::ptrdiff_t>(rank);
    const auto chosen = paths.begin() + static_cast<std::ptrdiff_t>(best);
    std::rotate(place, chosen, chosen + 1);  // the others keep their order
  }
  if (paths.size() > limit) paths.resize(limit);
}

}  // namespace

std::vector<Path> ranked_shortest_paths(const ShortestPaths& shortest, NodeIndex destination, std::size_t limit) {
  if (!shortest.reaches(destination) || limit == 0) return {};
  const PathGraph graph(shortest, destination);
  const bool all_fit = graph.path_count() <= limit;
  std::vector<Path> paths = candidates(graph, all_fit ? limit : limit * kCandidatesPerPath);
  rank_by_overlap(paths, limit);
  if (destination < shortest.source()) {
    for (Path& path : paths) path = reversed(std::move(path));
  }
  return paths;
}

}  // namespace cableway::routing
