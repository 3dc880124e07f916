#include "routing/link_state/fair_shares.h"

#include <algorithm>
#include <tuple>

#include "routing/link_state/advertisement_weight.h"
#include "routing/link_state/anchored_tree.h"

namespace cableway::routing {
namespace {

// A port, or a node, that asks for a part of what the node above it has.
struct Claim {
  std::size_t demand = 0;
  std::size_t least = 0;  // less is of no use
  std::size_t grant = 0;
  bool is_over = false;  // it asks for more than an equal share
};

// The share of those that do not get all they ask for.
std::size_t fair_level(std::size_t capacity, const std::vector<Claim>& claims) {
  std::vector<std::size_t> demands;
  demands.reserve(claims.size());
  for (const Claim& claim : claims) demands.push_back(claim.demand);
  std::sort(demands.begin(), demands.end());
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const std::size_t level = capacity / (demands.size() - i);
    if (demands[i] > level) return level;
    capacity -= demands[i];
  }
  return demands.empty() ? 0 : demands.back();
}

// `claims` in the order in which they get what equal shares leave.
void split(std::size_t capacity, std::vector<Claim>& claims) {
  const std::size_t level = fair_level(capacity, claims);
  for (Claim& claim : claims) {
    claim.is_over = claim.demand > level;
    const std::size_t share = std::min(claim.demand, level);
    claim.grant = share < claim.least ? 0 : share;
    capacity -= claim.grant;
  }
  for (Claim& claim : claims) {
    if (claim.grant != 0 || claim.least > capacity) continue;
    claim.grant = claim.least;
    capacity -= claim.grant;
  }
  for (Claim& claim : claims) {
    if (claim.grant == 0) continue;
    const std::size_t more = std::min(claim.demand - claim.grant, capacity);
    claim.grant += more;
    capacity -= more;
  }
}

class Sharing {
 public:
  Sharing(std::span<const Advertisement* const> nodes, NodeId self, const std::vector<bool>& last)
      : nodes_(nodes), tree_(anchored_tree(nodes, self, last)), demand_(nodes.size()), grant_(nodes.size()) {
    for (const Advertisement* node : nodes) weight_.push_back(weight_of(*node));
    sum_demands();
    sort_children();
  }

  void share(std::size_t capacity) {
    cut_.assign(nodes_.size(), false);
    is_over_.assign(nodes_.size(), false);
    if (tree_.order.empty()) return;
    grant_[tree_.order.front()] = capacity;
    for (const std::uint32_t place : tree_.order) {
      if (grant_[place] >= weight_[place]) share_below(place);
    }
  }

  const std::vector<bool>& cut() const { return cut_; }

  FairShares result() const {
    FairShares shares;
    shares.anchored.assign(nodes_.size(), false);
    shares.kept.assign(nodes_.size(), false);
    for (const std::uint32_t place : tree_.order) {
      shares.anchored[place] = true;
      const bool kept = is_kept(place);
      shares.kept[place] = kept;
      kept ? shares.weight += weight_[place] : ++shares.left_out;
    }
    if (shares.left_out > 0) shares.crowd = chain_to_crowd();
    return shares;
  }

 private:
  bool is_kept(std::uint32_t place) const { return grant_[place] >= weight_[place]; }

  void sum_demands() {
    for (auto place = tree_.order.rbegin(); place != tree_.order.rend(); ++place) {
      demand_[*place] += weight_[*place];
      if (tree_.parents[*place] != AnchoredTree::kNone) demand_[tree_.parents[*place]] += demand_[*place];
    }
  }

  void sort_children() {
    begin_.assign(nodes_.size() + 1, 0);
    for (const std::uint32_t place : tree_.order) {
      if (tree_.parents[place] == AnchoredTree::kNone) continue;
      children_.push_back(place);
      ++begin_[tree_.parents[place] + 1];
    }
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    std::sort(children_.begin(), children_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::tuple(tree_.parents[a], tree_.ports[a], a) < std::tuple(tree_.parents[b], tree_.ports[b], b);
    });
  }

  std::span<const std::uint32_t> children(std::uint32_t place) const {
    return std::span(children_).subspan(begin_[place], begin_[place + 1] - begin_[place]);
  }

  // The children of each port, the port with the first of them first.
  std::vector<std::span<const std::uint32_t>> ports_of(std::uint32_t place) const {
    std::vector<std::span<const std::uint32_t>> ports;
    const std::span<const std::uint32_t> all = children(place);
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      while (end < all.size() && tree_.ports[all[end]] == tree_.ports[all[begin]]) ++end;
      ports.push_back(all.subspan(begin, end - begin));
    }
    std::sort(ports.begin(), ports.end(), [](const auto& a, const auto& b) { return a.front() < b.front(); });
    return ports;
  }

  void share_below(std::uint32_t place) {
    const std::size_t below = demand_[place] - weight_[place];
    const std::size_t capacity = grant_[place] - weight_[place];
    cut_[place] = capacity < below;
    const std::vector<std::span<const std::uint32_t>> ports = ports_of(place);
    std::vector<Claim> claims;
    for (const auto& port : ports) {
      std::size_t demand = 0;
      for (const std::uint32_t child : port) demand += demand_[child];
      claims.push_back({demand, weight_[port.front()]});
    }
    split(capacity, claims);
    for (std::size_t i = 0; i < ports.size(); ++i) share_port(claims[i], ports[i]);
  }

  void share_port(const Claim& port, std::span<const std::uint32_t> children) {
    std::vector<Claim> claims;
    for (const std::uint32_t child : children) claims.push_back({demand_[child], weight_[child]});
    split(port.grant, claims);
    for (std::size_t i = 0; i < children.size(); ++i) {
      grant_[children[i]] = claims[i].grant;
      is_over_[children[i]] = port.is_over || claims[i].is_over;
    }
  }

  // First to whoever asks for more than its share, then as long as most of the rest hangs on one node.
  std::vector<std::uint32_t> chain_to_crowd() const {
    std::vector<std::uint32_t> chain = {tree_.order.front()};
    while (true) {
      std::size_t all = 0;
      std::uint32_t largest = AnchoredTree::kNone;
      for (const std::uint32_t child : children(chain.back())) {
        if (chain.size() == 1 && !is_over_[child]) continue;
        all += demand_[child];
        if (largest == AnchoredTree::kNone || demand_[child] > demand_[largest]) largest = child;
      }
      if (largest == AnchoredTree::kNone || !is_kept(largest) || demand_[largest] * 4 < all * 3) return chain;
      chain.push_back(largest);
    }
  }

  std::span<const Advertisement* const> nodes_;
  AnchoredTree tree_;
  std::vector<std::size_t> weight_;
  std::vector<std::size_t> demand_;  // of the node and all that hangs on it
  std::vector<std::size_t> grant_;
  std::vector<bool> cut_;      // what hangs on it asks for more than it has
  std::vector<bool> is_over_;  // it, or its port, asks for more than an equal share
  std::vector<std::uint32_t> children_;
  std::vector<std::size_t> begin_;  // of each node's in children_
};

}  // namespace

FairShares fair_shares(std::span<const Advertisement* const> nodes, NodeId self, std::size_t capacity) {
  Sharing first(nodes, self, std::vector<bool>(nodes.size()));
  first.share(capacity);
  if (std::find(first.cut().begin(), first.cut().end(), true) == first.cut().end()) return first.result();
  Sharing second(nodes, self, first.cut());
  second.share(capacity);
  return second.result();
}

}  // namespace cableway::routing
