#include "routing/paths/drain_effect.h"

#include <algorithm>
#include <utility>

#include "routing/paths/max_flow.h"
#include "routing/paths/path_cost.h"

namespace cableway::routing {
namespace {

void compare_paths(const Topology& before, const Topology& after, NodeIndex from, DrainEffect& effect) {
  const std::vector<PackedCost> costs_before = costs_from(before, from);
  const std::vector<PackedCost> costs_after = costs_from(after, from);
  for (std::uint32_t to = from.value + 1; to < before.node_count(); ++to) {
    const AffectedPair pair{from, NodeIndex{to}};
    if (costs_before[to] == kUnreachable) continue;
    if (costs_after[to] == kUnreachable) {
      effect.lost.push_back(pair);
      continue;
    }
    const std::size_t cables_before = unpacked(costs_before[to]).hops;
    const std::size_t cables_after = unpacked(costs_after[to]).hops;
    if (cables_after > cables_before) effect.longer.push_back({pair, cables_before, cables_after});
  }
}

// Compares the parts of their maximum flows that pairs keep.
bool keeps_less(const LostBandwidth& left, const LostBandwidth& right) {
  return static_cast<double>(left.after_mbps) * static_cast<double>(right.before_mbps) <
         static_cast<double>(right.after_mbps) * static_cast<double>(left.before_mbps);
}

std::optional<LostBandwidth> largest_loss(const Topology& before, const Topology& after) {
  std::optional<LostBandwidth> largest;
  const auto nodes = static_cast<std::uint32_t>(before.node_count());
  for (std::uint32_t from = 0; from < nodes; ++from) {
    for (std::uint32_t to = from + 1; to < nodes; ++to) {
      const AffectedPair pair{NodeIndex{from}, NodeIndex{to}};
      const LostBandwidth lost{pair, max_flow_mbps(before, pair.a, pair.b), max_flow_mbps(after, pair.a, pair.b)};
      if (lost.after_mbps >= lost.before_mbps) continue;
      if (!largest.has_value() || keeps_less(lost, *largest)) largest = lost;
    }
  }
  return largest;
}

}  // namespace

// Neither can fail: the parts are those of a valid topology.
Topology with_node_draining(const Topology& topology, NodeIndex node, bool draining) {
  std::vector<Node> nodes(topology.nodes().begin(), topology.nodes().end());
  nodes[node.value].draining = draining;
  return *Topology::create(topology.cluster(), std::move(nodes),
                           {topology.plugged_cables().begin(), topology.plugged_cables().end()});
}

Topology with_cable_draining(const Topology& topology, std::string_view cable, bool draining) {
  std::vector<Cable> cables(topology.plugged_cables().begin(), topology.plugged_cables().end());
  for (Cable& each : cables) {
    if (each.name == cable) each.draining = draining;
  }
  return *Topology::create(topology.cluster(), {topology.nodes().begin(), topology.nodes().end()}, std::move(cables));
}

DrainEffect drain_effect(const Topology& before, const Topology& after) {
  DrainEffect effect;
  for (std::uint32_t from = 0; from < before.node_count(); ++from) {
    compare_paths(before, after, NodeIndex{from}, effect);
  }
  std::stable_sort(effect.longer.begin(), effect.longer.end(), [](const LongerPath& left, const LongerPath& right) {
    return left.cables_after - left.cables_before > right.cables_after - right.cables_before;
  });
  if (before.node_count() <= kMaxNodesForFlow) effect.largest_loss = largest_loss(before, after);
  return effect;
}

}  // namespace cableway::routing
