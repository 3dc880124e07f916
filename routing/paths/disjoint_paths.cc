#include "routing/paths/disjoint_paths.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "routing/paths/path_cost.h"
#include "routing/topology/physical_cable.h"

namespace cableway::routing {
namespace {

// The cost of one arc or a sum of arcs. Signed for backward arcs; sums exceed a PackedCost.
struct ArcCost {
  std::int64_t hops = 0;
  std::int64_t latency_ns = 0;
  friend auto operator<=>(const ArcCost&, const ArcCost&) = default;
  friend ArcCost operator+(ArcCost left, ArcCost right) {
    return {left.hops + right.hops, left.latency_ns + right.latency_ns};
  }
  friend ArcCost operator-(ArcCost left, ArcCost right) {
    return {left.hops - right.hops, left.latency_ns - right.latency_ns};
  }
};

constexpr ArcCost kUnreachedCost = {std::numeric_limits<std::int64_t>::max(), 0};

// A network of unit capacities. Each push_one() sends one unit from source to sink over the cheapest augmenting path,
// so the flow is always the cheapest of its size.
class UnitFlow {
 public:
  UnitFlow(std::size_t vertices, std::size_t source, std::size_t sink)
      : source_(source), sink_(sink), arcs_of_(vertices), potential_(vertices) {}

  // `label` is returned in the paths.
  void add_arc(std::size_t from, std::size_t to, ArcCost cost, std::optional<CableIndex> label = std::nullopt) {
    arcs_of_[from].push_back(arcs_.size());
    arcs_.push_back({to, cost, true, label});
    arcs_of_[to].push_back(arcs_.size());
    arcs_.push_back({from, ArcCost{} - cost, false, std::nullopt});
  }

  // Returns false when there is no augmenting path left.
  bool push_one() {
    std::vector<ArcCost> distance(arcs_of_.size(), kUnreachedCost);
    std::vector<std::size_t> last_arc(arcs_of_.size(), arcs_.size());
    search(distance, last_arc);
    if (distance[sink_] == kUnreachedCost) return false;
    for (std::size_t vertex = 0; vertex < potential_.size(); ++vertex) {
      potential_[vertex] = potential_[vertex] + std::min(distance[vertex], distance[sink_]);
    }
    for (std::size_t vertex = sink_; vertex != source_;) {
      const std::size_t arc = last_arc[vertex];
      arcs_[arc].is_open = false;
      arcs_[opposite(arc)].is_open = true;
      vertex = arcs_[opposite(arc)].to;
    }
    return true;
  }

  // Removes one unit from the flow and returns the labels along its path. Precondition: the flow is not empty.
  std::vector<CableIndex> take_one() {
    std::vector<CableIndex> labels;
    for (std::size_t vertex = source_; vertex != sink_;) {
      const auto carries = [&](std::size_t arc) { return is_forward(arc) && !arcs_[arc].is_open; };
      const std::size_t arc = *std::find_if(arcs_of_[vertex].begin(), arcs_of_[vertex].end(), carries);
      arcs_[arc].is_open = true;
      if (arcs_[arc].label) labels.push_back(*arcs_[arc].label);
      vertex = arcs_[arc].to;
    }
    return labels;
  }

 private:
  struct Arc {
    std::size_t to = 0;
    ArcCost cost;
    bool is_open = false;  // has residual capacity; on a backward arc: carries a unit that can be cancelled
    std::optional<CableIndex> label;
  };

  static std::size_t opposite(std::size_t arc) { return arc ^ 1; }
  static bool is_forward(std::size_t arc) { return arc % 2 == 0; }

  // Dijkstra's algorithm; the potentials keep costs from being negative (D. B. Johnson, 1977).
  void search(std::vector<ArcCost>& distance, std::vector<std::size_t>& last_arc) const {
    using Entry = std::tuple<ArcCost, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[source_] = {};
    queue.emplace(ArcCost{}, source_);
    while (!queue.empty()) {
      const auto [cost, vertex] = queue.top();
      queue.pop();
      if (cost > distance[vertex]) continue;
      if (vertex == sink_) return;  // the remaining vertices are farther; push_one() does not need their distances
      for (const std::size_t arc : arcs_of_[vertex]) {
        if (!arcs_[arc].is_open) continue;
        const std::size_t next = arcs_[arc].to;
        const ArcCost through = cost + arcs_[arc].cost + potential_[vertex] - potential_[next];
        if (through >= distance[next]) continue;
        distance[next] = through;
        last_arc[next] = arc;
        queue.emplace(through, next);
      }
    }
  }

  const std::size_t source_;
  const std::size_t sink_;
  std::vector<Arc> arcs_;                          // forward and backward arcs alternate
  std::vector<std::vector<std::size_t>> arcs_of_;  // by vertex
  std::vector<ArcCost> potential_;                 // by vertex
};

// Vertices: the nodes, which any number of paths may visit; then, for each shared connector, an entry and an exit
// joined by one arc, so that one path uses the connector. From the entry a path goes on to the node or straight to
// another cable of the connector, which is a path through the node as well. Paths only leave the source and only arrive
// at the destination.
class PairNetwork {
 public:
  PairNetwork(const Topology& topology, NodeIndex source, NodeIndex destination)
      : topology_(topology),
        physical_(physical_cables(topology)),
        source_(source),
        destination_(destination),
        flow_(topology.node_count() + 2 * physical_.connectors.size(), source.value, destination.value) {
    for (std::size_t i = 0; i < physical_.connectors.size(); ++i) {
      const NodeIndex node = physical_.connectors[i].node;
      flow_.add_arc(entry(i), exit(i), {});
      if (node != destination_) flow_.add_arc(node.value, entry(i), {});
      if (node != source_) flow_.add_arc(exit(i), node.value, {});
    }
    for (const PhysicalCable& cable : physical_.cables) {
      add_arc(cable, cable.a, cable.shared_at_a, cable.b, cable.shared_at_b);
      add_arc(cable, cable.b, cable.shared_at_b, cable.a, cable.shared_at_a);
    }
  }

  std::vector<Path> paths() {
    std::size_t count = 0;
    while (flow_.push_one()) ++count;
    std::vector<Path> paths;
    while (paths.size() < count) {
      Path path{flow_.take_one(), {source_}};
      for (const CableIndex cable : path.cables) {
        path.nodes.push_back(topology_.neighbour_over(cable, path.nodes.back()));
      }
      paths.push_back(std::move(path));
    }
    return paths;
  }

 private:
  std::size_t entry(std::size_t connector) const { return topology_.node_count() + 2 * connector; }
  std::size_t exit(std::size_t connector) const { return entry(connector) + 1; }

  void add_arc(const PhysicalCable& cable, NodeIndex from, std::optional<std::size_t> shared_at_from, NodeIndex to,
               std::optional<std::size_t> shared_at_to) {
    if (from == destination_ || to == source_ || !may_leave(topology_, source_, from)) return;
    if (to != destination_ && topology_.node(to).draining) return;
    const CableIndex chosen = best_of(cable);
    flow_.add_arc(shared_at_from ? exit(*shared_at_from) : from.value, shared_at_to ? entry(*shared_at_to) : to.value,
                  {1, static_cast<std::int64_t>(topology_.latency_cost_ns(chosen))}, chosen);
  }

  CableIndex best_of(const PhysicalCable& cable) const {
    return *std::min_element(cable.cables.begin(), cable.cables.end(), [&](CableIndex left, CableIndex right) {
      const auto rank = [&](CableIndex twin) {
        return std::pair(topology_.latency_cost_ns(twin), kMaxRateMbps - topology_.cable(twin).rate_mbps);
      };
      return rank(left) < rank(right);
    });
  }

  const Topology& topology_;
  const PhysicalCables physical_;
  const NodeIndex source_;
  const NodeIndex destination_;
  UnitFlow flow_;
};

}  // namespace

std::vector<DisjointPath> disjoint_paths(const Topology& topology, NodeIndex source, NodeIndex destination) {
  if (source == destination) return {};
  std::vector<Path> paths = PairNetwork(topology, std::min(source, destination), std::max(source, destination)).paths();
  std::sort(paths.begin(), paths.end(), [&](const Path& left, const Path& right) {
    const PathCost left_cost = cost_of(topology, left);
    const PathCost right_cost = cost_of(topology, right);
    return left_cost != right_cost ? left_cost < right_cost : left < right;
  });
  std::vector<DisjointPath> disjoint;
  for (Path& path : paths) {
    std::uint64_t slowest = kMaxRateMbps;
    for (const CableIndex cable : path.cables) slowest = std::min(slowest, topology.cable(cable).rate_mbps);
    disjoint.push_back({destination < source ? reversed(std::move(path)) : std::move(path), slowest});
  }
  return disjoint;
}

}  // namespace cableway::routing
