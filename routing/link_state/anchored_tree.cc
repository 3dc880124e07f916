#include "routing/link_state/anchored_tree.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "routing/link_state/both_ways.h"

namespace cableway::routing {
namespace {

class TreeGrowth {
 public:
  explicit TreeGrowth(std::span<const Advertisement* const> nodes) : nodes_(nodes), reached_(nodes.size()) {
    places_.reserve(nodes.size());
    for (std::uint32_t place = 0; place < nodes.size(); ++place) places_.emplace_back(nodes[place]->origin, place);
    std::sort(places_.begin(), places_.end());
    tree_.parents.assign(nodes.size(), AnchoredTree::kNone);
    tree_.ports.assign(nodes.size(), 0);
  }

  AnchoredTree grow(NodeId root, const std::vector<bool>& last) && {
    const std::uint32_t start = place_of(root);
    if (start == AnchoredTree::kNone) return std::move(tree_);
    reach(start);
    std::deque<std::uint32_t> deferred;
    while (!next_.empty() || !deferred.empty()) {
      std::deque<std::uint32_t>& from = next_.empty() ? deferred : next_;
      const std::uint32_t place = from.front();
      from.pop_front();
      if (&from == &next_ && last[place]) {
        deferred.push_back(place);
      } else {
        expand(place);
      }
    }
    return std::move(tree_);
  }

 private:
  // A sorted list: peers choose the numbers, and could make those of a hash table collide.
  std::uint32_t place_of(NodeId origin) const {
    const auto found = std::lower_bound(places_.begin(), places_.end(), std::pair<NodeId, std::uint32_t>(origin, 0));
    return found == places_.end() || found->first != origin ? AnchoredTree::kNone : found->second;
  }

  void reach(std::uint32_t place) {
    reached_[place] = true;
    tree_.order.push_back(place);
    next_.push_back(place);
  }

  void expand(std::uint32_t from) {
    for (const AdvertisedAdjacency& adjacency : nodes_[from]->adjacencies) {
      const std::uint32_t to = place_of(adjacency.neighbour);
      if (to == AnchoredTree::kNone || reached_[to]) continue;
      if (find_answer(*nodes_[from], adjacency, *nodes_[to]) == nullptr) continue;
      tree_.parents[to] = from;
      tree_.ports[to] = adjacency.port;
      reach(to);
    }
  }

  std::span<const Advertisement* const> nodes_;
  std::vector<std::pair<NodeId, std::uint32_t>> places_;
  std::vector<bool> reached_;
  std::deque<std::uint32_t> next_;
  AnchoredTree tree_;
};

}  // namespace

AnchoredTree anchored_tree(std::span<const Advertisement* const> nodes, NodeId root, const std::vector<bool>& last) {
  return TreeGrowth(nodes).grow(root, last);
}

}  // namespace cableway::routing
