#include "routing/topology/lossy_cables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace cableway::routing {
namespace {

// Which nodes reach each other over the cables added so far. Nodes that relay are kept in disjoint sets; one that
// drains joins none, and reaches the sets of its neighbours.
class Reach {
 public:
  explicit Reach(std::span<const Node> nodes) : nodes_(nodes), parent_(nodes.size()), neighbours_(nodes.size()) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }

  void add(const Cable& cable) {
    const std::uint32_t a = cable.a.node.value;
    const std::uint32_t b = cable.b.node.value;
    if (relays(a) && relays(b)) {
      parent_[set_of(a)] = set_of(b);
      return;
    }
    if (!relays(a)) neighbours_[a].push_back(b);
    if (!relays(b)) neighbours_[b].push_back(a);
  }

  bool joins(std::uint32_t a, std::uint32_t b) {
    if (relays(a) && relays(b)) return set_of(a) == set_of(b);
    if (relays(a)) std::swap(a, b);
    if (std::find(neighbours_[a].begin(), neighbours_[a].end(), b) != neighbours_[a].end()) return true;
    const std::vector<std::uint32_t> from_a = sets_at(a);
    const std::vector<std::uint32_t> from_b = sets_at(b);
    return std::find_first_of(from_a.begin(), from_a.end(), from_b.begin(), from_b.end()) != from_a.end();
  }

 private:
  bool relays(std::uint32_t node) const { return !nodes_[node].draining; }

  std::uint32_t set_of(std::uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  // The sets in which a path from the node may go on after its first hop; for a node that relays, its own set.
  std::vector<std::uint32_t> sets_at(std::uint32_t node) {
    if (relays(node)) return {set_of(node)};
    std::vector<std::uint32_t> sets;
    for (const std::uint32_t neighbour : neighbours_[node]) {
      if (relays(neighbour)) sets.push_back(set_of(neighbour));
    }
    return sets;
  }

  std::span<const Node> nodes_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::vector<std::uint32_t>> neighbours_;  // of nodes that drain
};

}  // namespace

std::vector<bool> cables_in_use(std::span<const Node> nodes, std::span<const Cable> cables) {
  std::vector<bool> in_use(cables.size());
  std::vector<std::size_t> by_loss;
  bool any_loss = false;
  for (std::size_t i = 0; i < cables.size(); ++i) {
    in_use[i] = !cables[i].draining;
    if (in_use[i]) by_loss.push_back(i);
    any_loss = any_loss || cables[i].loss_percent > 0;
  }
  if (!any_loss) return in_use;
  std::sort(by_loss.begin(), by_loss.end(), [&](std::size_t left, std::size_t right) {
    return cables[left].loss_percent < cables[right].loss_percent;
  });
  Reach reach(nodes);
  auto better = by_loss.begin();
  for (const std::size_t i : by_loss) {
    const Cable& cable = cables[i];
    for (; 2U * cables[*better].loss_percent < cable.loss_percent; ++better) reach.add(cables[*better]);
    in_use[i] = !reach.joins(cable.a.node.value, cable.b.node.value);
  }
  return in_use;
}

}  // namespace cableway::routing
