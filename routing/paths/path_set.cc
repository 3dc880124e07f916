#include "routing/paths/path_set.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace cableway::routing {
namespace {

constexpr std::size_t kCandidatesPerPath = 4;

// A path as a list of step indices into PathGraph::steps(): no two steps share a cable.
using StepPath = std::vector<std::uint32_t>;

// The part of the shortest-path graph between two nodes, directed from the lower-numbered (`low`) to the other
// (`high`), with the number of paths from each node to `high`. Paths are numbered in lexicographic order of their
// steps. Compact, because one is built for every requested pair of nodes.
class PathGraph {
 public:
  struct Step {
    std::uint32_t from;  // indices into nodes_
    std::uint32_t to;
    CableIndex cable;
  };

  // Precondition: shortest.reaches(destination).
  PathGraph(const ShortestPaths& shortest, NodeIndex destination);

  // Saturates at 2^63. Paths numbered above that are never candidates, which only reduces variety.
  std::uint64_t path_count() const { return path_count_[low_]; }
  std::size_t step_count() const { return steps_.size(); }

  // From `low` to `high`. Precondition: number < path_count().
  StepPath path(std::uint64_t number) const;
  Path with_nodes(const StepPath& path) const;

 private:
  void collect_steps(const ShortestPaths& shortest, NodeIndex destination);
  void sort_steps();
  void count_paths();
  std::span<const Step> steps_of(std::uint32_t node) const {
    return std::span(steps_).subspan(first_step_[node], first_step_[node + 1] - first_step_[node]);
  }

  bool towards_source_;
  std::vector<NodeIndex> nodes_;  // in breadth-first order from the destination
  std::uint32_t low_;             // index into nodes_
  std::uint32_t high_;
  std::vector<Step> steps_;  // sorted by start node, then by neighbour and cable
  std::vector<std::uint32_t> first_step_;
  std::vector<std::uint64_t> path_count_;  // by index into nodes_
};

PathGraph::PathGraph(const ShortestPaths& shortest, NodeIndex destination)
    : towards_source_(destination < shortest.source()) {
  collect_steps(shortest, destination);
  // All paths have the same number of hops, so the backward search reaches the source last.
  const std::uint32_t last = static_cast<std::uint32_t>(nodes_.size() - 1);
  low_ = towards_source_ ? 0 : last;
  high_ = towards_source_ ? last : 0;
  sort_steps();
  count_paths();
}

void PathGraph::collect_steps(const ShortestPaths& shortest, NodeIndex destination) {
  constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> place_of(shortest.node_count(), kUnseen);
  nodes_.push_back(destination);
  place_of[destination.value] = 0;
  for (std::uint32_t place = 0; place < nodes_.size(); ++place) {
    for (const Adjacency& step : shortest.last_steps(nodes_[place])) {
      std::uint32_t& other = place_of[step.neighbour.value];
      if (other == kUnseen) {
        other = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back(step.neighbour);
      }
      steps_.push_back(towards_source_ ? Step{place, other, step.cable} : Step{other, place, step.cable});
    }
  }
}

void PathGraph::sort_steps() {
  std::sort(steps_.begin(), steps_.end(), [&](const Step& left, const Step& right) {
    if (left.from != right.from) return left.from < right.from;
    if (left.to != right.to) return nodes_[left.to] < nodes_[right.to];
    return left.cable < right.cable;
  });
  first_step_.assign(nodes_.size() + 1, 0);
  for (const Step& step : steps_) ++first_step_[step.from + 1];
  for (std::size_t node = 1; node < first_step_.size(); ++node) first_step_[node] += first_step_[node - 1];
}

void PathGraph::count_paths() {
  constexpr std::uint64_t kSaturated = std::uint64_t{1} << 63;
  path_count_.assign(nodes_.size(), 0);
  path_count_[high_] = 1;
  // From `high` backwards: every step leads to a node whose paths are already counted.
  for (std::uint32_t i = 1; i < nodes_.size(); ++i) {
    const std::uint32_t node = towards_source_ ? high_ - i : i;
    std::uint64_t& count = path_count_[node];
    for (const Step& step : steps_of(node)) {
      count = std::min(kSaturated, count + std::min(kSaturated - 1, path_count_[step.to]));
    }
  }
}

StepPath PathGraph::path(std::uint64_t number) const {
  StepPath path;
  std::uint32_t node = low_;
  while (node != high_) {
    for (std::uint32_t place = first_step_[node]; place < first_step_[node + 1]; ++place) {
      const std::uint64_t count = path_count_[steps_[place].to];
      if (number < count) {
        node = steps_[place].to;
        path.push_back(place);
        break;
      }
      number -= count;
    }
  }
  return path;
}

Path PathGraph::with_nodes(const StepPath& path) const {
  Path whole;
  whole.cables.reserve(path.size());
  whole.nodes.reserve(path.size() + 1);
  whole.nodes.push_back(nodes_[low_]);
  for (const std::uint32_t place : path) {
    whole.cables.push_back(steps_[place].cable);
    whole.nodes.push_back(nodes_[steps_[place].to]);
  }
  return whole;
}

// All paths, or `wanted` paths with evenly spaced numbers.
std::vector<StepPath> candidates(const PathGraph& graph, std::uint64_t wanted) {
  const std::uint64_t count = graph.path_count();
  const std::uint64_t kept = std::min(count, wanted);
  std::vector<StepPath> paths;
  paths.reserve(kept);
  for (std::uint64_t i = 0; i < kept; ++i) {
    paths.push_back(graph.path(count / kept * i + count % kept * i / kept));  // count * i / kept, without overflow
  }
  return paths;
}

// Maps each step to the paths that use it.
class PathsOfSteps {
 public:
  PathsOfSteps(const std::vector<StepPath>& paths, std::size_t step_count) : begin_(step_count + 1, 0) {
    for (const StepPath& path : paths) {
      for (const std::uint32_t step : path) ++begin_[step + 1];
    }
    for (std::size_t step = 0; step < step_count; ++step) begin_[step + 1] += begin_[step];
    paths_.resize(begin_[step_count]);
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t i = 0; i < paths.size(); ++i) {
      for (const std::uint32_t step : paths[i]) paths_[next[step]++] = i;
    }
  }

  std::span<const std::uint32_t> of(std::uint32_t step) const {
    return std::span(paths_).subspan(begin_[step], begin_[step + 1] - begin_[step]);
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> paths_;
};

// The first `limit` candidates by rank: each next path shares the fewest steps with those before it; ties go to the
// first.
std::vector<std::size_t> ranked_by_overlap(const std::vector<StepPath>& paths, std::size_t step_count,
                                           std::size_t limit) {
  std::vector<std::size_t> rest(paths.size());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = i;
  std::vector<std::size_t> overlap(paths.size(), 0);
  const PathsOfSteps users(paths, step_count);
  std::vector<std::size_t> ranked;
  while (ranked.size() < limit && !rest.empty()) {
    const auto best = std::min_element(rest.begin(), rest.end(),
                                       [&](std::size_t a, std::size_t b) { return overlap[a] < overlap[b]; });
    ranked.push_back(*best);
    rest.erase(best);
    for (const std::uint32_t step : paths[ranked.back()]) {
      for (const std::uint32_t path : users.of(step)) ++overlap[path];
    }
  }
  return ranked;
}

}  // namespace

std::vector<Path> ranked_shortest_paths(const ShortestPaths& shortest, NodeIndex destination, std::size_t limit) {
  if (!shortest.reaches(destination) || limit == 0) return {};
  const PathGraph graph(shortest, destination);
  const bool all_fit = graph.path_count() <= limit;
  const std::vector<StepPath> found = candidates(graph, all_fit ? limit : limit * kCandidatesPerPath);
  std::vector<Path> paths;
  paths.reserve(std::min(limit, found.size()));
  for (const std::size_t place : ranked_by_overlap(found, graph.step_count(), limit)) {
    Path path = graph.with_nodes(found[place]);
    paths.push_back(destination < shortest.source() ? reversed(std::move(path)) : std::move(path));
  }
  return paths;
}

}  // namespace cableway::routing
