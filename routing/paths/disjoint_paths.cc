#include "routing/paths/disjoint_paths.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "routing/paths/path_cost.h"
#include "routing/paths/unit_flow.h"

namespace cableway::routing {
namespace {

// Vertices: the nodes, which any number of paths may visit; then, for each shared connector, an entry and an exit
// joined by one arc, so that one path uses the connector. From the entry a path goes on to the node or straight to
// another cable of the connector, which is a path through the node as well. Paths only leave the source and only arrive
// at the destination.
class PairNetwork {
 public:
  PairNetwork(const Topology& topology, const PhysicalCables& physical, NodeIndex source, NodeIndex destination)
      : topology_(topology),
        physical_(physical),
        source_(source),
        destination_(destination),
        flow_(topology.node_count() + 2 * physical_.connectors.size(), source.value, destination.value) {
    flow_.reserve(3 * physical_.connectors.size() + 2 * physical_.cables.size());
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

  std::vector<Path> paths(std::size_t most) {
    std::size_t count = 0;
    while (count < most && flow_.push_one()) ++count;
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
                  {.hops = 1, .latency_ns = static_cast<std::int64_t>(topology_.latency_cost_ns(chosen))}, chosen);
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
  const PhysicalCables& physical_;
  const NodeIndex source_;
  const NodeIndex destination_;
  UnitFlow flow_;
};

}  // namespace

std::vector<DisjointPath> disjoint_paths(const Topology& topology, NodeIndex source, NodeIndex destination) {
  if (source == destination) return {};
  return disjoint_paths(topology, physical_cables(topology), source, destination, kMaxCables);
}

std::vector<DisjointPath> disjoint_paths(const Topology& topology, const PhysicalCables& physical, NodeIndex source,
                                         NodeIndex destination, std::size_t most) {
  if (source == destination) return {};
  PairNetwork network(topology, physical, std::min(source, destination), std::max(source, destination));
  std::vector<Path> paths = network.paths(most);
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
