#include "sim/flow_model/rank_cuts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using Capacity = CutNetwork::Capacity;
using Vertex = CutNetwork::Vertex;

constexpr std::uint32_t kNotMerged = 0xffffffff;

std::vector<bool> nodes_with_ranks(const routing::Topology& topology, std::span<const NodeIndex> node_of_rank) {
  std::vector<bool> has_ranks(topology.node_count(), false);
  for (const NodeIndex node : node_of_rank) has_ranks[node.value] = true;
  return has_ranks;
}

}  // namespace

RankCuts::RankCuts(const routing::Topology& topology, const routing::PhysicalCables& physical,
                   std::span<const NodeIndex> node_of_rank)
    : topology_(topology),
      physical_(physical),
      has_ranks_(nodes_with_ranks(topology, node_of_rank)),
      capacities_(routing::capacity_arcs(topology, physical, [this](NodeIndex node) { return takes_part(node); })),
      network_(capacities_.vertices + 1),
      super_source_(static_cast<Vertex>(capacities_.vertices)) {
  std::map<NodeIndex, std::uint64_t> ranks;
  for (const NodeIndex node : node_of_rank) ++ranks[node];
  for (const auto& [node, count] : ranks) {
    nodes_.push_back(node);
    ranks_at_.push_back(count);
    rank_arcs_.push_back(network_.add_arc(super_source_, node.value, 0));
  }
  arcs_.reserve(capacities_.arcs.size());
  for (const routing::CapacityArc& arc : capacities_.arcs) arcs_.push_back(network_.add_arc(arc.from, arc.to, 0));
}

void RankCuts::scale(Capacity factor) {
  if (factor == scale_) return;
  scale_ = factor;
  for (std::size_t i = 0; i < arcs_.size(); ++i) {
    network_.set_capacity(arcs_[i], static_cast<Capacity>(capacities_.arcs[i].rate_mbps) * factor);
  }
}

std::uint64_t RankCuts::minimum_cut(NodeIndex from, NodeIndex to, std::uint64_t limit) {
  scale(1);
  for (const CutNetwork::Arc arc : rank_arcs_) network_.set_capacity(arc, 0);
  const Capacity most = static_cast<Capacity>(std::min(limit, static_cast<std::uint64_t>(CutNetwork::kUnlimited)));
  return static_cast<std::uint64_t>(std::min(most, network_.max_flow(from.value, to.value, most)));
}

// Guesses that the rate is capacity / ranks, and searches for a set of nodes that cannot send that much; its rate is
// the next guess (W. Dinkelbach, 1967).
RankCuts::Rate RankCuts::gather_rate(std::size_t place, const Rate& most) {
  Rate best = most;
  while (true) {
    scale(static_cast<Capacity>(best.ranks));
    Capacity wanted = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Capacity sent = i == place ? 0 : static_cast<Capacity>(best.capacity * ranks_at_[i]);
      network_.set_capacity(rank_arcs_[i], sent);
      wanted += sent;
    }
    const Capacity flow = network_.max_flow(super_source_, nodes_[place].value, wanted);
    if (flow >= wanted) return best;
    Rate found{0, 0};
    Capacity kept = 0;  // of ranks outside the set
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (i == place) continue;
      if (network_.is_on_source_side(nodes_[i].value)) {
        found.ranks += ranks_at_[i];
      } else {
        kept += static_cast<Capacity>(best.capacity * ranks_at_[i]);
      }
    }
    found.capacity = static_cast<std::uint64_t>((flow - kept) / scale_);
    best = found;
  }
}

std::uint64_t RankCuts::port_capacity(NodeIndex node) const {
  std::uint64_t sum = 0;
  std::uint64_t sum_by_root = 0;
  std::vector<std::uint64_t> behind(physical_.connectors.size(), 0);
  std::vector<std::uint64_t> behind_root(physical_.roots.size(), 0);
  for (const routing::PhysicalCable& wire : physical_.cables) {
    if ((wire.a != node && wire.b != node) || !takes_part(wire.a) || !takes_part(wire.b)) continue;
    const std::optional<std::size_t>& shared = wire.a == node ? wire.shared_at_a : wire.shared_at_b;
    (shared ? behind[*shared] : sum) += wire.rate_mbps;
    for (const routing::CableIndex cable : wire.cables) {
      const routing::CableRoots& roots = physical_.roots_of_cable[cable.value];
      const std::optional<std::size_t>& root = topology_.cable(cable).a.node == node ? roots.at_a : roots.at_b;
      (root ? behind_root[*root] : sum_by_root) += topology_.cable(cable).rate_mbps;
    }
  }
  for (std::size_t i = 0; i < behind.size(); ++i) sum += std::min(behind[i], physical_.connectors[i].rate_mbps);
  for (std::size_t i = 0; i < behind_root.size(); ++i) {
    sum_by_root += std::min(behind_root[i], physical_.roots[i].rate_mbps);
  }
  return std::min(sum, sum_by_root);
}

// By node: the index of the node with ranks that it is merged into; kNotMerged if there is none.
std::vector<std::uint32_t> RankCuts::merge_nodes_without_ranks() const {
  std::vector<std::uint32_t> place_of(topology_.node_count(), kNotMerged);
  for (std::uint32_t place = 0; place < nodes_.size(); ++place) place_of[nodes_[place].value] = place;
  while (true) {
    // The fastest cable between a merged node and one that is not.
    const routing::PhysicalCable* fastest = nullptr;
    for (const routing::PhysicalCable& cable : physical_.cables) {
      if (!takes_part(cable.a) || !takes_part(cable.b)) continue;
      if ((place_of[cable.a.value] == kNotMerged) == (place_of[cable.b.value] == kNotMerged)) continue;
      if (fastest == nullptr || cable.rate_mbps > fastest->rate_mbps) fastest = &cable;
    }
    if (fastest == nullptr) return place_of;
    std::uint32_t& a = place_of[fastest->a.value];
    std::uint32_t& b = place_of[fastest->b.value];
    (a == kNotMerged ? a : b) = std::min(a, b);  // kNotMerged is larger than any index
  }
}

std::vector<WeightedEdge> RankCuts::merged_edges() const {
  const std::vector<std::uint32_t> place_of = merge_nodes_without_ranks();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> joined;
  for (const routing::PhysicalCable& cable : physical_.cables) {
    const std::uint32_t a = place_of[cable.a.value];
    const std::uint32_t b = place_of[cable.b.value];
    if (a == b || a == kNotMerged || b == kNotMerged || !takes_part(cable.a) || !takes_part(cable.b)) continue;
    joined[std::minmax(a, b)] += cable.rate_mbps;
  }
  std::vector<WeightedEdge> edges;
  edges.reserve(joined.size());
  for (const auto& [ends, capacity] : joined) edges.push_back({ends.first, ends.second, capacity});
  return edges;
}

}  // namespace cableway::sim
