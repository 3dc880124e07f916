#include "routing/topology/topology_kind.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace cableway::routing {
namespace {

using Neighbours = std::vector<std::vector<NodeIndex>>;  // by node, sorted, each neighbour once

Neighbours neighbours_of(const Topology& topology) {
  Neighbours neighbours(topology.node_count());
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
    for (const Adjacency& adjacency : topology.adjacencies(NodeIndex{node})) {
      if (neighbours[node].empty() || neighbours[node].back() != adjacency.neighbour) {
        neighbours[node].push_back(adjacency.neighbour);
      }
    }
  }
  return neighbours;
}

std::size_t count_of_degree(const Neighbours& neighbours, std::size_t degree) {
  return static_cast<std::size_t>(std::count_if(neighbours.begin(), neighbours.end(),
                                                [=](const auto& of_node) { return of_node.size() == degree; }));
}

// Walks from `first` to unvisited neighbours, the lowest-numbered first, until there is none.
std::vector<NodeIndex> walk(const Neighbours& neighbours, NodeIndex first) {
  std::vector<bool> seen(neighbours.size(), false);
  std::vector<NodeIndex> order = {first};
  seen[first.value] = true;
  for (;;) {
    const std::vector<NodeIndex>& next = neighbours[order.back().value];
    const auto unseen = std::find_if(next.begin(), next.end(), [&](NodeIndex node) { return !seen[node.value]; });
    if (unseen == next.end()) return order;
    seen[unseen->value] = true;
    order.push_back(*unseen);
  }
}

std::vector<NodeIndex> own_order(std::size_t count, NodeIndex first) {
  std::vector<NodeIndex> order = {first};
  for (std::uint32_t node = 0; node < count; ++node) {
    if (node != first.value) order.push_back(NodeIndex{node});
  }
  return order;
}

// Searches for a placement of the nodes on a grid whose rows and columns are rings. Places rows one after another from
// node 0, with backtracking; `columns` is the shorter side, so that few first rows are tried.
class TorusSearch {
 public:
  TorusSearch(const Neighbours& neighbours, std::size_t rows, std::size_t columns)
      : neighbours_(neighbours), rows_(rows), columns_(columns), used_(neighbours.size(), false) {}

  // Precondition: every node has four neighbours and rows * columns nodes exist, so a placement that fits all of the
  // grid's cables leaves no others.
  std::optional<std::vector<NodeIndex>> find() {
    if (!place_next(NodeIndex{0})) return std::nullopt;
    return placed_;
  }

 private:
  // Bounds the time for graphs that locally look like a torus but are not one.
  static constexpr std::size_t kMaxSteps = 200'000;

  bool are_neighbours(NodeIndex a, NodeIndex b) const {
    return std::binary_search(neighbours_[a.value].begin(), neighbours_[a.value].end(), b);
  }

  bool fits(NodeIndex node) const {
    const std::size_t place = placed_.size();
    const std::size_t row = place / columns_;
    const std::size_t column = place % columns_;
    return !used_[node.value] && (column == 0 || are_neighbours(node, placed_[place - 1])) &&
           (row == 0 || are_neighbours(node, placed_[place - columns_])) &&
           (column != columns_ - 1 || are_neighbours(node, placed_[place - column])) &&
           (row != rows_ - 1 || are_neighbours(node, placed_[column]));
  }

  bool place_next(NodeIndex node) {
    if (++steps_ > kMaxSteps) return false;
    placed_.push_back(node);
    used_[node.value] = true;
    const std::size_t next = placed_.size();
    if (next == neighbours_.size()) return true;
    const NodeIndex beside = placed_[next % columns_ == 0 ? next - columns_ : next - 1];
    for (const NodeIndex candidate : neighbours_[beside.value]) {
      if (fits(candidate) && place_next(candidate)) return true;
    }
    used_[node.value] = false;
    placed_.pop_back();
    return false;
  }

  const Neighbours& neighbours_;
  const std::size_t rows_;
  const std::size_t columns_;
  std::vector<NodeIndex> placed_;
  std::vector<bool> used_;
  std::size_t steps_ = 0;
};

std::optional<TopologyShape> recognise_torus(const Neighbours& neighbours) {
  const std::size_t count = neighbours.size();
  if (count > kMaxTorusNodes || count_of_degree(neighbours, 4) != count) return std::nullopt;
  for (std::size_t shorter = 3; shorter * shorter <= count; ++shorter) {
    const std::size_t longer = count / shorter;
    if (shorter * longer != count) continue;
    const std::optional<std::vector<NodeIndex>> grid = TorusSearch(neighbours, longer, shorter).find();
    if (!grid) continue;
    if (shorter == longer) return TopologyShape{TopologyKind::kTorus, *grid, shorter, longer};
    std::vector<NodeIndex> turned;  // transposed, so that rows are the longer side
    for (std::size_t column = 0; column < shorter; ++column) {
      for (std::size_t row = 0; row < longer; ++row) turned.push_back((*grid)[row * shorter + column]);
    }
    return TopologyShape{TopologyKind::kTorus, std::move(turned), shorter, longer};
  }
  return std::nullopt;
}

// Precondition: connected, with one pair of neighbours fewer than nodes.
TopologyShape recognise_tree(const Neighbours& neighbours) {
  const std::size_t count = neighbours.size();
  if (count_of_degree(neighbours, 1) == 2) {
    const auto end = std::find_if(neighbours.begin(), neighbours.end(), [](const auto& of) { return of.size() == 1; });
    return {TopologyKind::kLine, walk(neighbours, NodeIndex{static_cast<std::uint32_t>(end - neighbours.begin())})};
  }
  const auto root = std::max_element(neighbours.begin(), neighbours.end(),
                                     [](const auto& left, const auto& right) { return left.size() < right.size(); });
  return {root->size() == count - 1 ? TopologyKind::kStar : TopologyKind::kTree,
          own_order(count, NodeIndex{static_cast<std::uint32_t>(root - neighbours.begin())})};
}

}  // namespace

TopologyShape recognise_shape(const Topology& topology) {
  const Neighbours neighbours = neighbours_of(topology);
  const std::size_t count = neighbours.size();
  const std::vector<NodeIndex> plain = own_order(count, NodeIndex{0});
  if (count == 1) return {TopologyKind::kSingleNode, plain};
  if (topology.components().size() > 1) return {TopologyKind::kDisconnected, plain};

  std::size_t degrees = 0;
  for (const std::vector<NodeIndex>& of_node : neighbours) degrees += of_node.size();
  if (degrees == 2 * (count - 1)) return recognise_tree(neighbours);
  if (degrees == count * (count - 1)) return {TopologyKind::kFullMesh, plain};
  if (count_of_degree(neighbours, 2) == count) return {TopologyKind::kRing, walk(neighbours, NodeIndex{0})};
  if (std::optional<TopologyShape> torus = recognise_torus(neighbours)) return *std::move(torus);
  return {TopologyKind::kPartial, plain};
}

std::string_view kind_name(TopologyKind kind) {
  switch (kind) {
    case TopologyKind::kSingleNode:
      return "single node";
    case TopologyKind::kLine:
      return "line";
    case TopologyKind::kFullMesh:
      return "full mesh";
    case TopologyKind::kRing:
      return "ring";
    case TopologyKind::kStar:
      return "star";
    case TopologyKind::kTree:
      return "tree";
    case TopologyKind::kTorus:
      return "torus";
    case TopologyKind::kPartial:
      return "partial mesh";
    case TopologyKind::kDisconnected:
      return "disconnected";
  }
  return "unknown";
}

}  // namespace cableway::routing
