#include "routing/paths/loop_free_paths.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "routing/paths/path_cost.h"

namespace cableway::routing {
namespace {

// The best path of a class: all paths that start with the first `kept` cables and do not continue over a `barred` one.
struct Candidate {
  PackedCost cost = 0;
  Path path;
  std::size_t kept = 0;
  std::vector<CableIndex> barred;
};

struct IsBetter {
  bool operator()(const Candidate& left, const Candidate& right) const {
    return left.cost != right.cost ? left.cost < right.cost : left.path < right.path;
  }
};

class PathSearch {
 public:
  PathSearch(const Topology& topology, NodeIndex source, NodeIndex destination)
      : topology_(topology), source_(source), destination_(destination) {}

  std::vector<Path> find(std::size_t count) {
    std::vector<Path> found;
    if (count == 0) return found;
    keep(best_of_class({{}, {source_}}, {}), count);
    while (!candidates_.empty() && found.size() < count) {
      const Candidate best = std::move(candidates_.extract(candidates_.begin()).value());
      found.push_back(best.path);
      split(best, count - found.size());
    }
    return found;
  }

 private:
  // Partitions the class of `best`, without `best` itself, by the node at which the other members leave `best`.
  void split(const Candidate& best, std::size_t wanted) {
    for (std::size_t kept = best.kept; kept < best.path.hops() && wanted > 0; ++kept) {
      const auto cables_end = best.path.cables.begin() + static_cast<std::ptrdiff_t>(kept);
      const auto nodes_end = best.path.nodes.begin() + static_cast<std::ptrdiff_t>(kept) + 1;
      Path start{{best.path.cables.begin(), cables_end}, {best.path.nodes.begin(), nodes_end}};
      std::vector<CableIndex> barred;
      if (kept == best.kept) barred = best.barred;
      barred.push_back(*cables_end);
      keep(best_of_class(std::move(start), std::move(barred)), wanted);
    }
  }

  // Keeps only as many candidates as may still be needed; otherwise memory would grow with the square of the hops.
  void keep(std::optional<Candidate> candidate, std::size_t wanted) {
    if (!candidate) return;
    candidates_.insert(*std::move(candidate));
    if (candidates_.size() > wanted) candidates_.erase(std::prev(candidates_.end()));
  }

  // The best path that begins with `start` and continues over a cable that is not barred, to nodes that `start` does
  // not visit.
  std::optional<Candidate> best_of_class(Path start, std::vector<CableIndex> barred) const {
    const std::size_t kept = start.hops();
    std::vector<bool> visited(topology_.node_count(), false);
    for (const NodeIndex node : start.nodes) visited[node.value] = true;
    if (start.nodes.back() != destination_) {
      if (!may_go_on(start.nodes.back(), visited, barred)) return std::nullopt;
      const std::vector<PackedCost> left = costs_from(topology_, destination_, visited);
      const std::vector<CableIndex>* avoided = &barred;  // at the first step
      while (start.nodes.back() != destination_) {
        const std::optional<Adjacency> step = best_step(start.nodes.back(), left, *avoided);
        if (!step) return std::nullopt;
        start.cables.push_back(step->cable);
        start.nodes.push_back(step->neighbour);
        avoided = &kNoCables;
      }
    }
    PackedCost cost = 0;
    for (const CableIndex cable : start.cables) cost += packed_cost(topology_, cable);
    return Candidate{cost, std::move(start), kept, std::move(barred)};
  }

  // Skips searches that cannot succeed, as along a line.
  bool may_go_on(NodeIndex node, const std::vector<bool>& visited, const std::vector<CableIndex>& barred) const {
    const auto adjacencies = topology_.adjacencies(node);
    return may_leave(topology_, source_, node) &&
           std::any_of(adjacencies.begin(), adjacencies.end(), [&](const Adjacency& step) {
             return !visited[step.neighbour.value] && !is_in(barred, step.cable);
           });
  }

  // The first of the cheapest next steps from `node` towards the destination. `left` is the cost from each node; a
  // draining node other than the destination has a cost too, but cannot be crossed.
  std::optional<Adjacency> best_step(NodeIndex node, const std::vector<PackedCost>& left,
                                     const std::vector<CableIndex>& avoided) const {
    std::optional<Adjacency> best;
    PackedCost best_cost = kUnreachable;
    for (const Adjacency& step : topology_.adjacencies(node)) {
      const NodeIndex next = step.neighbour;
      if (left[next.value] == kUnreachable || is_in(avoided, step.cable)) continue;
      if (next != destination_ && topology_.node(next).draining) continue;
      const PackedCost cost = left[next.value] + packed_cost(topology_, step.cable);
      if (cost >= best_cost) continue;
      best = step;
      best_cost = cost;
    }
    return best;
  }

  static bool is_in(const std::vector<CableIndex>& cables, CableIndex cable) {
    return std::find(cables.begin(), cables.end(), cable) != cables.end();
  }

  inline static const std::vector<CableIndex> kNoCables;
  const Topology& topology_;
  const NodeIndex source_;
  const NodeIndex destination_;
  std::set<Candidate, IsBetter> candidates_;
};

}  // namespace

std::vector<Path> loop_free_paths(const Topology& topology, NodeIndex source, NodeIndex destination,
                                  std::size_t count) {
  PathSearch search(topology, std::min(source, destination), std::max(source, destination));
  std::vector<Path> paths = search.find(std::min(count, kMaxLoopFreePaths));
  if (destination < source) {
    for (Path& path : paths) path = reversed(std::move(path));
  }
  return paths;
}

}  // namespace cableway::routing
