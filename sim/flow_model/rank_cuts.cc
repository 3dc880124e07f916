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

}  // namespace

RankCuts::RankCuts(const routing::Topology& topology, const routing::PhysicalCables& physical,
                   std::span<const NodeIndex> node_of_rank)
    : topology_(topology),
      physical_(physical),
      has_ranks_(topology.node_count(), false),
      network_(topology.node_count() + 2 * physical.connectors.size() + 1),
      super_source_(static_cast<Vertex>(topology.node_count() + 2 * physical.connectors.size())) {
  std::map<NodeIndex, std::uint64_t> ranks;
  for (const NodeIndex node : node_of_rank) ++ranks[node];
  for (const auto& [node, count] : ranks) {
    has_ranks_[node.value] = true;
    nodes_.push_back(node);
    ranks_at_.push_back(count);
    rank_arcs_.push_back(network_.add_arc(super_source_, node.value, 0));
  }
  add_cables();
}

// As for the maximum flow of a pair (routing/paths/max_flow.cc): after the nodes come, for each shared connector, a
// vertex for its outgoing and one for its incoming capacity.
void RankCuts::add_cables() {
  const auto sender = [&](std::size_t i) { return static_cast<Vertex>(topology_.node_count() + 2 * i); };
  const auto add = [&](Vertex from, Vertex to, std::uint64_t rate_mbps) {
    arcs_.push_back({network_.add_arc(from, to, 0), rate_mbps});
  };
  for (std::size_t i = 0; i < physical_.connectors.size(); ++i) {
    const routing::SharedConnector& connector = physical_.connectors[i];
    add(connector.node.value, sender(i), connector.rate_mbps);
    add(sender(i) + 1, connector.node.value, connector.rate_mbps);
  }
  for (const routing::PhysicalCable& cable : physical_.cables) {
    if (!takes_part(cable.a) || !takes_part(cable.b)) continue;
    const auto from = [&](NodeIndex node, std::optional<std::size_t> i) { return i ? sender(*i) : node.value; };
    const auto to = [&](NodeIndex node, std::optional<std::size_t> i) { return i ? sender(*i) + 1 : node.value; };
    add(from(cable.a, cable.shared_at_a), to(cable.b, cable.shared_at_b), cable.rate_mbps);
    add(from(cable.b, cable.shared_at_b), to(cable.a, cable.shared_at_a), cable.rate_mbps);
  }
}

void RankCuts::scale(Capacity factor) {
  if (factor == scale_) return;
  scale_ = factor;
  for (const ScaledArc& arc : arcs_) {
    network_.set_capacity(arc.arc, static_cast<Capacity>(arc.rate_mbps) * factor);
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
  std::vector<std::uint64_t> behind(physical_.connectors.size(), 0);
  for (const routing::PhysicalCable& cable : physical_.cables) {
    if ((cable.a != node && cable.b != node) || !takes_part(cable.a) || !takes_part(cable.b)) continue;
    const std::optional<std::size_t>& shared = cable.a == node ? cable.shared_at_a : cable.shared_at_b;
    (shared ? behind[*shared] : sum) += cable.rate_mbps;
  }
  for (std::size_t i = 0; i < behind.size(); ++i) sum += std::min(behind[i], physical_.connectors[i].rate_mbps);
  return sum;
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
