#include "routing/paths/route_diff.h"

#include <algorithm>
#include <optional>
#include <span>

#include "routing/paths/shortest_paths.h"

namespace cableway::routing {
namespace {

class Comparison {
 public:
  Comparison(const Topology& old_topology, const RouteTable& old_routes, const Topology& new_topology,
             const RouteTable& new_routes)
      : old_topology_(old_topology),
        old_routes_(old_routes),
        new_topology_(new_topology),
        new_routes_(new_routes),
        has_same_paths_(new_topology.node_count(), false) {
    for (const Node& node : new_topology.nodes()) old_node_.push_back(old_topology.find_node(node.name));
    for (const Cable& cable : new_topology.cables()) old_cable_.push_back(old_topology.find_cable(cable.name));
    find_same_paths();
  }

  RouteDiff diff() const {
    RouteDiff diff;
    for (std::uint32_t i = 0; i < new_topology_.node_count(); ++i) {
      const NodeIndex node{i};
      if (!new_routes_.reaches(node)) continue;
      if (!old_node_[i] || !old_routes_.reaches(*old_node_[i])) {
        diff.added.push_back(new_topology_.node(node).name);
      } else if (!has_same_paths_[i]) {
        if (std::optional<RouteChange> change = compare(*old_node_[i], node))
          diff.changed.push_back(*std::move(change));
      }
    }
    for (std::uint32_t i = 0; i < old_topology_.node_count(); ++i) {
      const std::string& name = old_topology_.node(NodeIndex{i}).name;
      const std::optional<NodeIndex> now = new_topology_.find_node(name);
      if (old_routes_.reaches(NodeIndex{i}) && (!now || !new_routes_.reaches(*now))) diff.removed.push_back(name);
    }
    return diff;
  }

 private:
  // A node has the same paths if its last steps are the same and come from nodes that have the same paths: then the
  // paths between are the same graph, and as names order both topologies, they are ranked alike. Nodes are looked at in
  // the order of their distance, so that the nearer ones are known.
  void find_same_paths() {
    std::vector<NodeIndex> nearest_first;
    for (std::uint32_t i = 0; i < new_topology_.node_count(); ++i) {
      if (new_routes_.reaches(NodeIndex{i})) nearest_first.push_back(NodeIndex{i});
    }
    const ShortestPaths& now = new_routes_.shortest_paths();
    std::sort(nearest_first.begin(), nearest_first.end(),
              [&](NodeIndex left, NodeIndex right) { return now.cost_to(left) < now.cost_to(right); });
    for (const NodeIndex node : nearest_first) has_same_paths_[node.value] = has_same_last_steps(node);
  }

  bool has_same_last_steps(NodeIndex node) const {
    const ShortestPaths& before = old_routes_.shortest_paths();
    const ShortestPaths& now = new_routes_.shortest_paths();
    const std::optional<NodeIndex> old_node = old_node_[node.value];
    if (!old_node || !before.reaches(*old_node) || before.cost_to(*old_node) != now.cost_to(node)) return false;
    const std::span<const Adjacency> steps = now.last_steps(node);
    const std::span<const Adjacency> old_steps = before.last_steps(*old_node);
    return std::equal(steps.begin(), steps.end(), old_steps.begin(), old_steps.end(),
                      [this](const Adjacency& step, const Adjacency& old_step) {
                        return has_same_paths_[step.neighbour.value] &&
                               old_node_[step.neighbour.value] == old_step.neighbour &&
                               is_same_cable(step.cable, old_step.cable) &&
                               rate_of(new_topology_, step.cable) == rate_of(old_topology_, old_step.cable);
                      });
  }

  static std::uint64_t rate_of(const Topology& topology, CableIndex cable) { return topology.cable(cable).rate_mbps; }

  bool is_same_cable(CableIndex cable, CableIndex old_cable) const { return old_cable_[cable.value] == old_cable; }

  std::optional<RouteChange> compare(NodeIndex old_node, NodeIndex node) const {
    const Route before = old_routes_.route_to(old_node);
    const Route now = new_routes_.route_to(node);
    const bool is_same =
        before.cost == now.cost &&
        std::equal(now.paths.begin(), now.paths.end(), before.paths.begin(), before.paths.end(),
                   [this](const RankedPath& path, const RankedPath& old_path) {
                     return path.weight_mbps == old_path.weight_mbps && is_same_path(path.path, old_path.path);
                   });
    if (is_same) return std::nullopt;
    return RouteChange{new_topology_.node(node).name, before.cost, now.cost, before.paths.size(), now.paths.size()};
  }

  bool is_same_path(const Path& path, const Path& old_path) const {
    return std::equal(path.nodes.begin(), path.nodes.end(), old_path.nodes.begin(), old_path.nodes.end(),
                      [this](NodeIndex node, NodeIndex old_node) { return old_node_[node.value] == old_node; }) &&
           std::equal(path.cables.begin(), path.cables.end(), old_path.cables.begin(), old_path.cables.end(),
                      [this](CableIndex cable, CableIndex old_cable) { return is_same_cable(cable, old_cable); });
  }

  const Topology& old_topology_;
  const RouteTable& old_routes_;
  const Topology& new_topology_;
  const RouteTable& new_routes_;
  std::vector<std::optional<NodeIndex>> old_node_;    // by new node
  std::vector<std::optional<CableIndex>> old_cable_;  // by new cable
  std::vector<bool> has_same_paths_;                  // by new node
};

}  // namespace

RouteDiff diff_routes(const Topology& old_topology, const RouteTable& old_routes, const Topology& new_topology,
                      const RouteTable& new_routes) {
  return Comparison(old_topology, old_routes, new_topology, new_routes).diff();
}

}  // namespace cableway::routing
