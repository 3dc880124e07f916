#include "routing/topology/topology.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "routing/topology/lossy_cables.h"
#include "routing/topology/topology_check.h"

namespace cableway::routing {
namespace {

// Sorts `nodes` by name and returns the new place of each old one.
std::vector<NodeIndex> sort_nodes(std::vector<Node>& nodes) {
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t left, std::uint32_t right) { return natural_less(nodes[left].name, nodes[right].name); });
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  std::vector<NodeIndex> new_place(nodes.size());
  for (const std::uint32_t old_place : order) {
    new_place[old_place].value = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(nodes[old_place]));
  }
  nodes = std::move(sorted);
  return new_place;
}

void sort_cables(std::vector<Cable>& cables, const std::vector<NodeIndex>& new_place) {
  for (Cable& cable : cables) {
    cable.a.node = new_place[cable.a.node.value];
    cable.b.node = new_place[cable.b.node.value];
    if (cable.b.node < cable.a.node) std::swap(cable.a, cable.b);
  }
  std::sort(cables.begin(), cables.end(), [](const Cable& left, const Cable& right) {
    if (left.a.node != right.a.node) return left.a.node < right.a.node;
    if (left.b.node != right.b.node) return left.b.node < right.b.node;
    return natural_less(left.name, right.name);
  });
}

std::string describe(const TopologyFault& fault, const std::vector<Node>& nodes, const std::vector<Cable>& cables) {
  switch (fault.at) {
    case TopologyFault::At::kNode:
      return absl::StrCat("node ", in_quotes(nodes[fault.index].name), ": ", fault.message);
    case TopologyFault::At::kCable:
      return absl::StrCat("cable ", in_quotes(cables[fault.index].name), ": ", fault.message);
    case TopologyFault::At::kTopology:
      break;
  }
  return absl::StrCat("topology: ", fault.message);
}

}  // namespace

std::optional<std::uint64_t> stated_rate_mbps(const std::vector<SharedPart>& parts, std::string_view name) {
  const auto part = std::find_if(parts.begin(), parts.end(), [&](const SharedPart& each) { return each.name == name; });
  if (part == parts.end()) return std::nullopt;
  return part->rate_mbps;
}

absl::StatusOr<Topology> Topology::create(std::string cluster, std::vector<Node> nodes, std::vector<Cable> cables) {
  if (!is_valid_name(cluster, kMaxNodeNameBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cluster name ", in_quotes(cluster), " ", name_fault(cluster, kMaxNodeNameBytes)));
  }
  if (const std::optional<TopologyFault> fault = find_topology_fault(nodes, cables)) {
    return absl::InvalidArgumentError(describe(*fault, nodes, cables));
  }
  sort_cables(cables, sort_nodes(nodes));

  Topology topology;
  topology.cluster_ = std::move(cluster);
  topology.nodes_ = std::move(nodes);
  topology.sort_out_unused(std::move(cables));
  for (Node& node : topology.nodes_) {
    std::sort(node.plugs.begin(), node.plugs.end());
    std::sort(node.roots.begin(), node.roots.end());
  }
  topology.latency_cost_ns_.reserve(topology.cable_count_);
  for (const Cable& cable : topology.cables()) {
    const auto steps = static_cast<std::uint64_t>(cable.latency_us.value_or(0) / kLatencyCostStepUs);
    topology.latency_cost_ns_.push_back(steps * kLatencyCostStepUs * 1000);
  }
  topology.index_adjacencies();
  topology.index_cable_names();
  return topology;
}

void Topology::sort_out_unused(std::vector<Cable> cables) {
  const std::vector<bool> in_use = cables_in_use(nodes_, cables);
  cable_count_ = static_cast<std::size_t>(std::count(in_use.begin(), in_use.end(), true));
  plugged_cables_.reserve(cables.size());
  for (const bool wanted : {true, false}) {
    for (std::size_t i = 0; i < cables.size(); ++i) {
      if (in_use[i] == wanted) plugged_cables_.push_back(std::move(cables[i]));
    }
  }
}

void Topology::index_adjacencies() {
  adjacency_begin_.assign(nodes_.size() + 1, 0);
  for (const Cable& cable : cables()) {
    ++adjacency_begin_[cable.a.node.value + 1];
    ++adjacency_begin_[cable.b.node.value + 1];
  }
  std::partial_sum(adjacency_begin_.begin(), adjacency_begin_.end(), adjacency_begin_.begin());

  adjacencies_.resize(cable_count_ * 2);
  std::vector<std::uint32_t> next(adjacency_begin_.begin(), adjacency_begin_.end() - 1);
  for (std::uint32_t i = 0; i < cable_count_; ++i) {
    const Cable& cable = plugged_cables_[i];
    adjacencies_[next[cable.a.node.value]++] = {cable.b.node, CableIndex{i}};
    adjacencies_[next[cable.b.node.value]++] = {cable.a.node, CableIndex{i}};
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    std::sort(adjacencies_.begin() + adjacency_begin_[node], adjacencies_.begin() + adjacency_begin_[node + 1]);
  }
}

void Topology::index_cable_names() {
  cables_by_name_.resize(cable_count_);
  for (std::uint32_t i = 0; i < cable_count_; ++i) cables_by_name_[i].value = i;
  std::sort(cables_by_name_.begin(), cables_by_name_.end(),
            [this](CableIndex left, CableIndex right) { return cable(left).name < cable(right).name; });
}

std::optional<NodeIndex> Topology::find_node(std::string_view name) const {
  const auto it = std::lower_bound(nodes_.begin(), nodes_.end(), name, [](const Node& node, std::string_view wanted) {
    return natural_less(node.name, wanted);
  });
  if (it == nodes_.end() || it->name != name) return std::nullopt;
  return NodeIndex{static_cast<std::uint32_t>(it - nodes_.begin())};
}

std::optional<CableIndex> Topology::find_cable(std::string_view name) const {
  const auto it =
      std::lower_bound(cables_by_name_.begin(), cables_by_name_.end(), name,
                       [this](CableIndex index, std::string_view wanted) { return cable(index).name < wanted; });
  if (it == cables_by_name_.end() || cable(*it).name != name) return std::nullopt;
  return *it;
}

const Cable* Topology::find_plugged(std::string_view name) const {
  if (const std::optional<CableIndex> used = find_cable(name)) return &cable(*used);
  const std::span<const Cable> others = unused_cables();
  const auto found = std::find_if(others.begin(), others.end(), [&](const Cable& each) { return each.name == name; });
  return found == others.end() ? nullptr : &*found;
}

std::span<const Adjacency> Topology::adjacencies(NodeIndex node) const {
  const std::uint32_t begin = adjacency_begin_[node.value];
  return std::span(adjacencies_).subspan(begin, adjacency_begin_[node.value + 1] - begin);
}

std::span<const Adjacency> Topology::cables_between(NodeIndex a, NodeIndex b) const {
  const std::span<const Adjacency> all = adjacencies(a);
  const auto begin = std::lower_bound(all.begin(), all.end(), Adjacency{b, CableIndex{0}});
  const auto end = std::find_if(begin, all.end(), [b](const Adjacency& adjacency) { return adjacency.neighbour != b; });
  return all.subspan(static_cast<std::size_t>(begin - all.begin()), static_cast<std::size_t>(end - begin));
}

const Port& Topology::port_at(CableIndex cable_index, NodeIndex node) const {
  const Cable& joined = cable(cable_index);
  return joined.a.node == node ? joined.a : joined.b;
}

const Port& Topology::port_opposite(CableIndex cable_index, NodeIndex node) const {
  const Cable& joined = cable(cable_index);
  return joined.a.node == node ? joined.b : joined.a;
}

std::vector<std::vector<NodeIndex>> Topology::components() const {
  std::vector<std::vector<NodeIndex>> found;
  std::vector<bool> seen(nodes_.size(), false);
  for (std::uint32_t first = 0; first < nodes_.size(); ++first) {
    if (seen[first]) continue;
    seen[first] = true;
    std::vector<NodeIndex> component = {NodeIndex{first}};
    for (std::size_t next = 0; next < component.size(); ++next) {
      for (const Adjacency& adjacency : adjacencies(component[next])) {
        if (seen[adjacency.neighbour.value]) continue;
        seen[adjacency.neighbour.value] = true;
        component.push_back(adjacency.neighbour);
      }
    }
    std::sort(component.begin(), component.end());
    found.push_back(std::move(component));
  }
  return found;
}

}  // namespace cableway::routing
