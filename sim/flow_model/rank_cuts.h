// Minimum cuts of a topology between the nodes on which ranks run.
#ifndef CABLEWAY_SIM_FLOW_MODEL_RANK_CUTS_H_
#define CABLEWAY_SIM_FLOW_MODEL_RANK_CUTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/paths/capacity_arcs.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/cut_network.h"
#include "sim/flow_model/tree_packing.h"

namespace cableway::sim {

// Capacities in Mbit/s. Joint capacities hold (routing/topology/physical_cable.h). A draining node takes part if ranks
// run on it, since an algorithm's forwarding there is not relaying. Not thread-safe.
class RankCuts {
 public:
  // Preconditions: `physical` is physical_cables(topology); both outlive this.
  RankCuts(const routing::Topology& topology, const routing::PhysicalCables& physical,
           std::span<const routing::NodeIndex> node_of_rank);

  // The nodes with ranks, sorted.
  const std::vector<routing::NodeIndex>& nodes() const { return nodes_; }
  // The number of ranks on nodes()[place].
  std::uint64_t ranks_at(std::size_t place) const { return ranks_at_[place]; }

  // The capacity from one node to the other, or `limit` if that is less. Both have ranks.
  std::uint64_t minimum_cut(routing::NodeIndex from, routing::NodeIndex to,
                            std::uint64_t limit = static_cast<std::uint64_t>(CutNetwork::kUnlimited));

  // The rate at which every rank elsewhere can send to nodes()[place] simultaneously, at most `most`: the minimum, over
  // the sets of nodes without that one, of the capacity that leaves the set over the ranks inside.
  struct Rate {
    std::uint64_t capacity = 0;
    std::uint64_t ranks = 1;
    double value() const { return static_cast<double>(capacity) / static_cast<double>(ranks); }
  };
  Rate gather_rate(std::size_t place, const Rate& most);

  // An upper bound of the capacity out of the node, which equals that into it. Exact unless roots and connectors
  // overlap.
  std::uint64_t port_capacity(routing::NodeIndex node) const;

  // The nodes with ranks, by index, and the edges between them. Nodes without ranks are merged into a neighbour, and
  // shared connectors and roots are ignored, so capacities only increase.
  std::vector<WeightedEdge> merged_edges() const;

 private:
  bool takes_part(routing::NodeIndex node) const { return has_ranks_[node.value] || !topology_.node(node).draining; }
  std::vector<std::uint32_t> merge_nodes_without_ranks() const;
  void scale(CutNetwork::Capacity factor);

  const routing::Topology& topology_;
  const routing::PhysicalCables& physical_;
  std::vector<bool> has_ranks_;
  std::vector<routing::NodeIndex> nodes_;
  std::vector<std::uint64_t> ranks_at_;
  const routing::CapacityArcs capacities_;
  CutNetwork network_;
  CutNetwork::Vertex super_source_;         // sends for all ranks
  std::vector<CutNetwork::Arc> arcs_;       // by place in capacities_.arcs
  std::vector<CutNetwork::Arc> rank_arcs_;  // from super_source_ to nodes()[place]
  CutNetwork::Capacity scale_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_RANK_CUTS_H_
