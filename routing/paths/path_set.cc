#include "routing/paths/path_set.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
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
  CableIndex cable(std::uint32_t step) const { return steps_[step].cable; }
  // Whether the step crosses its cable from end a, which is the lower-numbered node's.
  bool is_from_a(std::uint32_t step) const { return nodes_[steps_[step].from] < nodes_[steps_[step].to]; }

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

// All paths, or `wanted` paths with evenly spaced numbers. `varied`: the last steps of the paths vary too, not only the
// first ones; the first and the last path, and others that use the same one of parallel cables everywhere, are
// included.
std::vector<StepPath> candidates(const PathGraph& graph, std::uint64_t wanted, bool varied) {
  const std::uint64_t count = graph.path_count();
  const std::uint64_t kept = std::min(count, wanted);
  std::vector<StepPath> paths;
  paths.reserve(kept);
  for (std::uint64_t i = 0; i < kept; ++i) {
    const std::uint64_t apart = count / kept;
    const std::uint64_t begin = apart * i + count % kept * i / kept;  // count * i / kept, without overflow
    const std::uint64_t within = apart > kept ? (apart - 1) / (kept - 1) * i : i % apart;
    paths.push_back(graph.path(begin + (varied ? within : 0)));
  }
  return paths;
}

// What each path uses, as numbers below `count`: its steps, or the parts of its cables.
struct PathUses {
  std::span<const std::vector<std::uint32_t>> of_path;
  std::size_t count = 0;
  std::span<const std::uint32_t> weights;  // by number; empty: each is 1
};

// Numbers the parts that the added paths use in the order of their first use: they are few of the topology's parts.
class PartNumbers {
 public:
  explicit PartNumbers(const CableParts& parts) : parts_(parts), number_(parts.count(), kUnused) {}

  void begin_path() { of_path_.emplace_back(); }
  void add(CableIndex cable, bool from_a) {
    for (const PartUse& use : parts_.of(cable, from_a)) {
      std::uint32_t& number = number_[use.part];
      if (number == kUnused) {
        number = static_cast<std::uint32_t>(weights_.size());
        weights_.push_back(use.weight);
      }
      of_path_.back().push_back(number);
    }
  }
  // For the paths added so far; valid until another one is added or this is destroyed.
  PathUses uses() const { return {of_path_, weights_.size(), weights_}; }

 private:
  static constexpr std::uint32_t kUnused = std::numeric_limits<std::uint32_t>::max();

  const CableParts& parts_;
  std::vector<std::uint32_t> number_;  // by part
  std::vector<std::vector<std::uint32_t>> of_path_;
  std::vector<std::uint32_t> weights_;
};

// Whether different cables among those added share a part.
class SharingCheck {
 public:
  explicit SharingCheck(const CableParts& parts) : parts_(parts), used_(parts.count(), false) {}

  void add(CableIndex cable, bool from_a) {
    if (used_[cable.value]) return;
    for (const PartUse& use : parts_.of(cable, from_a)) {
      found_ = found_ || used_[use.part];
      used_[use.part] = true;
    }
  }
  bool found() const { return found_; }

 private:
  const CableParts& parts_;
  std::vector<bool> used_;  // by part
  bool found_ = false;
};

bool share_parts(const PathGraph& graph, const CableParts& parts) {
  SharingCheck check(parts);
  for (std::uint32_t step = 0; step < graph.step_count(); ++step) check.add(graph.cable(step), graph.is_from_a(step));
  return check.found();
}

// Maps each number to the paths that use it.
class PathsOfUses {
 public:
  explicit PathsOfUses(const PathUses& uses) : begin_(uses.count + 1, 0) {
    for (const std::vector<std::uint32_t>& path : uses.of_path) {
      for (const std::uint32_t use : path) ++begin_[use + 1];
    }
    for (std::size_t use = 0; use < uses.count; ++use) begin_[use + 1] += begin_[use];
    paths_.resize(begin_[uses.count]);
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t i = 0; i < uses.of_path.size(); ++i) {
      for (const std::uint32_t use : uses.of_path[i]) paths_[next[use]++] = i;
    }
  }

  std::span<const std::uint32_t> of(std::uint32_t use) const {
    return std::span(paths_).subspan(begin_[use], begin_[use + 1] - begin_[use]);
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> paths_;
};

// The first `limit` paths by rank, beginning with `first`: each next path shares the least with those before it, and,
// where parts are counted, among equal ones the least with the path just before it. Ties go to the first, or to the
// last and the first in turn: of candidates in lexicographic order, those over the first of parallel cables between
// each two nodes are then followed by those over the last.
enum class Ties { kFirst, kLastAndFirst };
std::vector<std::size_t> ranked_by_overlap(const PathUses& uses, std::size_t first, std::size_t limit, Ties ties) {
  std::vector<std::size_t> rest(uses.of_path.size());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = i;
  const bool counts_parts = !uses.weights.empty();
  // By path: in units of kLast the overlap with all ranked paths, plus that with the last of them, which is less than
  // kLast. At most paths^2 * hops * parts of a hop.
  constexpr std::uint64_t kLast = std::uint64_t{1} << 32;
  std::vector<std::uint64_t> overlap(rest.size(), 0);
  const PathsOfUses users(uses);
  std::vector<std::size_t> ranked;
  auto next = rest.begin() + static_cast<std::ptrdiff_t>(first);
  while (true) {
    ranked.push_back(*next);
    rest.erase(next);
    if (ranked.size() >= limit || rest.empty()) return ranked;
    for (std::uint64_t& each : overlap) each -= each % kLast;
    for (const std::uint32_t use : uses.of_path[ranked.back()]) {
      const std::uint64_t added = counts_parts ? uses.weights[use] * (kLast + 1) : kLast;
      for (const std::uint32_t path : users.of(use)) overlap[path] += added;
    }
    const auto less = [&](std::size_t a, std::size_t b) { return overlap[a] < overlap[b]; };
    const bool from_last = ties == Ties::kLastAndFirst && ranked.size() % 2 == 1;
    next = from_last ? std::prev(std::min_element(rest.rbegin(), rest.rend(), less).base())
                     : std::min_element(rest.begin(), rest.end(), less);
  }
}

std::vector<std::size_t> ranked_candidates(const PathGraph& graph, const std::vector<StepPath>& found,
                                           const CableParts* parts, std::size_t limit) {
  if (parts == nullptr) return ranked_by_overlap({found, graph.step_count(), {}}, 0, limit, Ties::kFirst);
  PartNumbers numbers(*parts);
  for (const StepPath& path : found) {
    numbers.begin_path();
    for (const std::uint32_t step : path) numbers.add(graph.cable(step), graph.is_from_a(step));
  }
  return ranked_by_overlap(numbers.uses(), 0, limit, Ties::kLastAndFirst);
}

}  // namespace

std::vector<Path> ranked_shortest_paths(const ShortestPaths& shortest, NodeIndex destination, std::size_t limit,
                                        const CableParts* parts) {
  if (!shortest.reaches(destination) || limit == 0) return {};
  const PathGraph graph(shortest, destination);
  if (parts != nullptr && !share_parts(graph, *parts)) parts = nullptr;
  const bool all_fit = graph.path_count() <= limit;
  const std::vector<StepPath> found = candidates(graph, all_fit ? limit : limit * kCandidatesPerPath, parts != nullptr);
  std::vector<Path> paths;
  paths.reserve(std::min(limit, found.size()));
  for (const std::size_t place : ranked_candidates(graph, found, parts, limit)) {
    Path path = graph.with_nodes(found[place]);
    paths.push_back(destination < shortest.source() ? reversed(std::move(path)) : std::move(path));
  }
  return paths;
}

bool share_parts(const std::vector<Path>& paths, const CableParts& parts) {
  SharingCheck check(parts);
  for (const Path& path : paths) {
    for (std::size_t i = 0; i < path.hops(); ++i) check.add(path.cables[i], path.nodes[i] < path.nodes[i + 1]);
  }
  return check.found();
}

std::vector<std::size_t> spread_from(const std::vector<Path>& paths, std::size_t first, const CableParts& parts) {
  PartNumbers numbers(parts);
  for (const Path& path : paths) {
    numbers.begin_path();
    for (std::size_t i = 0; i < path.hops(); ++i) numbers.add(path.cables[i], path.nodes[i] < path.nodes[i + 1]);
  }
  return ranked_by_overlap(numbers.uses(), first, paths.size(), Ties::kFirst);
}

}  // namespace cableway::routing
