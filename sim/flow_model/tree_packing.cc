#include "sim/flow_model/tree_packing.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/flow_model/cut_network.h"

namespace cableway::sim {
namespace {

using Capacity = CutNetwork::Capacity;
using Vertex = CutNetwork::Vertex;

// For a guessed strength t = crossing / (parts - 1), finds the partition that maximises the sum over its parts S of
// inside(S) + t, inside(S) being the capacity of the edges within S. All numbers are multiplied by 2 * (parts - 1) to
// be integers; edges then count once at each end, and the doubled inside(S) is the sum of the degrees in S minus the
// edges that leave S.
//
// Adds one vertex at a time and gives it, by a minimum cut, the least worth such that no set S of the vertices so far
// is worth less than inside(S) + t. A set that is worth exactly that is tight; tight sets that intersect belong to one
// part.
class WeakestPartition {
 public:
  WeakestPartition(std::size_t vertices, std::span<const WeightedEdge> edges)
      : edges_(edges),
        network_(vertices + 2),
        source_(static_cast<Vertex>(vertices)),
        sink_(source_ + 1),
        worth_(vertices),
        degree_(vertices),
        part_(vertices),
        incident_(vertices) {
    edge_arcs_.reserve(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      edge_arcs_.push_back(network_.add_arc(edges[i].a, edges[i].b, 0));
      incident_[std::max(edges[i].a, edges[i].b)].push_back(i);
    }
    for (Vertex v = 0; v < vertices; ++v) {
      gain_arcs_.push_back(network_.add_arc(source_, v, 0));
      loss_arcs_.push_back(network_.add_arc(v, sink_, 0));
    }
  }

  GraphStrength find(const GraphStrength& guess) {
    scale_ = static_cast<Capacity>(guess.parts - 1);
    strength_ = 2 * static_cast<Capacity>(guess.crossing);
    std::iota(part_.begin(), part_.end(), 0U);
    std::fill(degree_.begin(), degree_.end(), 0);
    for (const CutNetwork::Arc arc : edge_arcs_) network_.set_capacity(arc, 0);
    for (Vertex v = 0; v < worth_.size(); ++v) weigh(v, 0);
    for (Vertex v = 0; v < worth_.size(); ++v) add_vertex(v);
    return strength_of_parts();
  }

 private:
  // `gain` is what the set gains by `v`: its arc from the source is cut if v is left out, its loss is cut if it is not.
  void weigh(Vertex v, Capacity gain) {
    network_.set_capacity(gain_arcs_[v], std::max<Capacity>(gain, 0));
    network_.set_capacity(loss_arcs_[v], std::max<Capacity>(-gain, 0));
  }

  void add_vertex(Vertex newest) {
    for (const std::size_t i : incident_[newest]) {
      const Capacity capacity = static_cast<Capacity>(edges_[i].capacity) * scale_;
      network_.set_capacity(edge_arcs_[i], capacity, capacity);
      degree_[edges_[i].a] += capacity;
      degree_[edges_[i].b] += capacity;
    }
    Capacity gained = 0;
    for (Vertex v = 0; v < newest; ++v) {
      const Capacity gain = degree_[v] - worth_[v];
      weigh(v, gain);
      gained += std::max<Capacity>(gain, 0);
    }
    weigh(newest, CutNetwork::kUnlimited);
    worth_[newest] = strength_ + degree_[newest] + gained - network_.max_flow(source_, sink_);
    merge_tight_set(newest);
  }

  // Merges the newest vertex, those on its side of the cut, and every part that contains one of them.
  void merge_tight_set(Vertex newest) {
    std::vector<bool> met(worth_.size(), false);
    for (Vertex v = 0; v < newest; ++v) {
      if (network_.is_on_source_side(v)) met[part_[v]] = true;
    }
    for (Vertex v = 0; v < newest; ++v) {
      if (met[part_[v]]) part_[v] = newest;
    }
  }

  GraphStrength strength_of_parts() const {
    GraphStrength strength{0, 0};
    for (const WeightedEdge& edge : edges_) {
      if (part_[edge.a] != part_[edge.b]) strength.crossing += edge.capacity;
    }
    // A part is identified by the newest of its vertices.
    for (Vertex v = 0; v < part_.size(); ++v) strength.parts += part_[v] == v ? 1 : 0;
    return strength;
  }

  std::span<const WeightedEdge> edges_;
  CutNetwork network_;
  Vertex source_;
  Vertex sink_;
  std::vector<Capacity> worth_;                     // by vertex
  std::vector<Capacity> degree_;                    // by vertex, counting edges to earlier vertices
  std::vector<Vertex> part_;                        // by vertex
  std::vector<std::vector<std::size_t>> incident_;  // by vertex: its edges to earlier ones
  std::vector<CutNetwork::Arc> edge_arcs_;
  std::vector<CutNetwork::Arc> gain_arcs_;
  std::vector<CutNetwork::Arc> loss_arcs_;
  Capacity scale_ = 1;
  Capacity strength_ = 0;
};

bool is_weaker(const GraphStrength& left, const GraphStrength& right) {
  return left.crossing * (right.parts - 1) < right.crossing * (left.parts - 1);
}

}  // namespace

GraphStrength graph_strength(std::size_t vertices, std::span<const WeightedEdge> edges) {
  GraphStrength best{0, vertices};
  for (const WeightedEdge& edge : edges) best.crossing += edge.capacity;
  WeakestPartition partition(vertices, edges);
  while (true) {
    const GraphStrength found = partition.find(best);
    if (found.parts < 2 || !is_weaker(found, best)) return best;
    best = found;
  }
}

}  // namespace cableway::sim
