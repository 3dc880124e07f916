#include "sim/flow_model/concurrent_flow.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/paths/path_cost.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using routing::Topology;

constexpr double kMinEpsilon = 0.001;
constexpr double kUnreached = std::numeric_limits<double>::infinity();
// Lengths above this are all scaled down by the same factor: only their ratios matter.
constexpr double kLongest = 1e100;
// The relative growth of a resource's length while it is busy for the whole time: large at first, to find bottlenecks
// quickly, then decreasing, so that equally good alternatives end up with equal lengths.
constexpr double kFirstGrowth = 0.2;
constexpr double kGrowthDecay = 0.7;
// The logarithm of how much longer a resource is that is always busy than one that is never busy. If some resources are
// clear bottlenecks, they show after few phases, and the sharpest lengths then prove the best bound.
constexpr std::array<double, 3> kSharpness = {10, 40, 160};

// All demands of one source.
struct SourceDemands {
  NodeIndex source;
  std::vector<std::pair<NodeIndex, double>> bytes_to;
};

std::vector<SourceDemands> by_source(std::span<const Demand> demands) {
  std::vector<Demand> sorted;
  for (const Demand& demand : demands) {
    if (demand.bytes > 0) sorted.push_back(demand);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Demand& left, const Demand& right) { return left.source < right.source; });
  std::vector<SourceDemands> sources;
  for (const Demand& demand : sorted) {
    if (sources.empty() || sources.back().source != demand.source) sources.push_back({demand.source, {}});
    sources.back().bytes_to.emplace_back(demand.destination, demand.bytes);
  }
  return sources;
}

// Shortest paths from one source under the lengths of resources (E. W. Dijkstra, 1959).
class LengthTree {
 public:
  LengthTree(const Topology& topology, const CableResources& resources)
      : topology_(topology),
        resources_(resources),
        distance_(topology.node_count()),
        from_(topology.node_count()),
        is_wanted_(topology.node_count(), 0) {}

  // Grows until all destinations are reached.
  void grow(const SourceDemands& demands, const std::vector<double>& length) {
    const NodeIndex source = demands.source;
    std::fill(distance_.begin(), distance_.end(), kUnreached);
    std::fill(is_wanted_.begin(), is_wanted_.end(), std::uint8_t{0});
    std::size_t missing = 0;
    for (const auto& [destination, bytes] : demands.bytes_to) missing += mark(destination) ? 1 : 0;
    distance_[source.value] = 0;
    settled_.clear();
    queue_ = {};
    queue_.emplace(0, source);
    while (missing > 0 && !queue_.empty()) {
      const auto [distance, node] = queue_.top();
      queue_.pop();
      if (distance > distance_[node.value]) continue;
      settled_.push_back(node);
      missing -= std::exchange(is_wanted_[node.value], std::uint8_t{0});
      if (!routing::may_leave(topology_, source, node)) continue;
      for (const routing::Adjacency& adjacency : topology_.adjacencies(node)) {
        const CableDirection hop = resources_.direction(adjacency.cable, node);
        double there = distance;
        for (const ResourceIndex resource : resources_.of_hop(hop)) there += length[resource];
        if (there >= distance_[adjacency.neighbour.value]) continue;
        distance_[adjacency.neighbour.value] = there;
        from_[adjacency.neighbour.value] = {node, hop};
        queue_.emplace(there, adjacency.neighbour);
      }
    }
  }

  double distance(NodeIndex node) const { return distance_[node.value]; }
  // The reached nodes, nearest first.
  const std::vector<NodeIndex>& settled() const { return settled_; }
  // Precondition: `node` is reached, and not the source.
  const std::pair<NodeIndex, CableDirection>& last_hop(NodeIndex node) const { return from_[node.value]; }

 private:
  using Reached = std::pair<double, NodeIndex>;

  // False if it is already marked.
  bool mark(NodeIndex node) { return std::exchange(is_wanted_[node.value], std::uint8_t{1}) == 0; }

  const Topology& topology_;
  const CableResources& resources_;
  std::vector<double> distance_;
  std::vector<std::pair<NodeIndex, CableDirection>> from_;
  std::vector<NodeIndex> settled_;
  std::vector<std::uint8_t> is_wanted_;  // by node: a destination not yet reached
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue_;
};

class FlowSearch {
 public:
  FlowSearch(const Topology& topology, const CableResources& resources, std::vector<SourceDemands> sources)
      : topology_(topology),
        resources_(resources),
        sources_(std::move(sources)),
        tree_(topology, resources),
        busy_s_(resources.count(), 0),
        busy_before_s_(resources.count(), 0),
        step_(resources.count(), 0),
        into_(topology.node_count(), 0) {
    length_sum_.assign(resources.count(), 0);
    length_.reserve(resources.count());
    for (const double capacity : resources.capacity()) length_.push_back(1 / capacity);
  }

  absl::StatusOr<ConcurrentFlow> run(const ConcurrentFlowSettings& settings);

 private:
  absl::Status check_reached();
  double used_by_demands(const std::vector<double>& length);
  double given(const std::vector<double>& length) const;
  void prove_bound(double used, const std::vector<double>& length);
  void prove_more_bounds();
  void average_lengths();
  double route(const SourceDemands& demands);
  double carry_tree(const SourceDemands& demands, std::vector<double>& left);
  void lengthen(double share);
  void keep_lengths_small();
  double slowest(bool since_checkpoint) const;

  const Topology& topology_;
  const CableResources& resources_;
  const std::vector<SourceDemands> sources_;
  LengthTree tree_;
  std::vector<double> length_;         // by resource
  std::vector<double> length_sum_;     // by resource: of the phases since the checkpoint, each scaled to the same sum
  std::vector<double> busy_s_;         // by resource: time to carry what was routed
  std::vector<double> busy_before_s_;  // the same at the checkpoint
  std::vector<double> step_;           // by resource: bytes of the current step
  std::vector<ResourceIndex> stepped_;
  std::vector<double> into_;  // by node: bytes of the current step that reach the node
  double growth_ = kFirstGrowth;
  ConcurrentFlow found_;
};

absl::Status FlowSearch::check_reached() {
  for (const SourceDemands& demands : sources_) {
    tree_.grow(demands, length_);
    for (const auto& [destination, bytes] : demands.bytes_to) {
      if (tree_.distance(destination) != kUnreached) continue;
      return absl::FailedPreconditionError(absl::StrCat("node ", topology_.node(demands.source).name,
                                                        " has no path to node ", topology_.node(destination).name));
    }
  }
  return absl::OkStatus();
}

// The sum of bytes times distance over all demands.
double FlowSearch::used_by_demands(const std::vector<double>& length) {
  double used = 0;
  for (const SourceDemands& demands : sources_) {
    tree_.grow(demands, length);
    for (const auto& [destination, bytes] : demands.bytes_to) used += bytes * tree_.distance(destination);
  }
  return used;
}

// The sum of capacity times length over all resources.
double FlowSearch::given(const std::vector<double>& length) const {
  double given = 0;
  for (std::size_t resource = 0; resource < length.size(); ++resource) {
    given += resources_.capacity()[resource] * length[resource];
  }
  return given;
}

// `used`: the sum of bytes times distance, under these lengths or smaller ones.
void FlowSearch::prove_bound(double used, const std::vector<double>& length) {
  found_.least_time_s = std::max(found_.least_time_s, used / given(length));
}

// Tries the average of the lengths since the checkpoint, and lengths by how busy each resource has been.
void FlowSearch::prove_more_bounds() {
  prove_bound(used_by_demands(length_sum_), length_sum_);
  const double slowest_s = slowest(false);
  for (const double sharpness : kSharpness) {
    for (std::size_t resource = 0; resource < length_sum_.size(); ++resource) {
      length_sum_[resource] =
          std::exp(sharpness * (busy_s_[resource] / slowest_s - 1)) / resources_.capacity()[resource];
    }
    prove_bound(used_by_demands(length_sum_), length_sum_);
  }
  std::fill(length_sum_.begin(), length_sum_.end(), 0);
}

void FlowSearch::average_lengths() {
  const double weight = 1 / given(length_);
  for (std::size_t resource = 0; resource < length_.size(); ++resource) {
    length_sum_[resource] += weight * length_[resource];
  }
}

// Routes the remaining demands over the tree, as far as no resource is busy for longer than the whole may take, and
// subtracts that share from `left`. Returns the share.
double FlowSearch::carry_tree(const SourceDemands& demands, std::vector<double>& left) {
  for (std::size_t i = 0; i < left.size(); ++i) into_[demands.bytes_to[i].first.value] += left[i];
  stepped_.clear();
  for (auto node = tree_.settled().rbegin(); node != tree_.settled().rend(); ++node) {
    const double bytes = std::exchange(into_[node->value], 0);
    if (bytes == 0 || *node == demands.source) continue;
    const auto& [before, hop] = tree_.last_hop(*node);
    into_[before.value] += bytes;
    for (const ResourceIndex resource : resources_.of_hop(hop)) {
      if (step_[resource] == 0) stepped_.push_back(resource);
      step_[resource] += bytes;
    }
  }
  double busiest_s = 0;
  for (const ResourceIndex resource : stepped_) {
    busiest_s = std::max(busiest_s, step_[resource] / resources_.capacity()[resource]);
  }
  const double share = std::min(1.0, found_.least_time_s / busiest_s);
  for (double& bytes : left) bytes *= 1 - share;
  return share;
}

void FlowSearch::lengthen(double share) {
  for (const ResourceIndex resource : stepped_) {
    const double busy_s = std::exchange(step_[resource], 0) * share / resources_.capacity()[resource];
    busy_s_[resource] += busy_s;
    length_[resource] *= 1 + growth_ * busy_s / found_.least_time_s;
  }
}

// Returns the sum of bytes times distance, each at its distance when it was routed.
double FlowSearch::route(const SourceDemands& demands) {
  std::vector<double> left;
  left.reserve(demands.bytes_to.size());
  for (const auto& [destination, bytes] : demands.bytes_to) left.push_back(bytes);
  double used = 0;
  for (double share = 0; share < 1;) {
    tree_.grow(demands, length_);
    double at_this_distance = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      at_this_distance += left[i] * tree_.distance(demands.bytes_to[i].first);
    }
    share = carry_tree(demands, left);
    used += share * at_this_distance;
    lengthen(share);
  }
  return used;
}

void FlowSearch::keep_lengths_small() {
  const double longest = *std::max_element(length_.begin(), length_.end());
  if (longest < kLongest) return;
  for (double& length : length_) length /= longest;
}

double FlowSearch::slowest(bool since_checkpoint) const {
  double slowest_s = 0;
  for (std::size_t resource = 0; resource < busy_s_.size(); ++resource) {
    slowest_s = std::max(slowest_s, busy_s_[resource] - (since_checkpoint ? busy_before_s_[resource] : 0));
  }
  return slowest_s;
}

absl::StatusOr<ConcurrentFlow> FlowSearch::run(const ConcurrentFlowSettings& settings) {
  const double epsilon = std::clamp(settings.epsilon, kMinEpsilon, 1.0);
  if (sources_.empty()) return found_;
  if (absl::Status status = check_reached(); !status.ok()) return status;
  // Lengths of 1 / capacity prove the bound from the total of all hops.
  prove_bound(used_by_demands(length_), length_);
  found_.reached_time_s = kUnreached;
  std::size_t checkpoint = 0;
  std::size_t trees = 0;
  while (found_.phases == 0 || found_.phases * sources_.size() < settings.most_trees) {
    keep_lengths_small();
    double used = 0;
    for (const SourceDemands& demands : sources_) {
      used += route(demands);
      settings.progress(++trees, std::max(trees, settings.most_trees));
    }
    ++found_.phases;
    prove_bound(used, length_);
    average_lengths();
    // The flow of all phases, or of those since the checkpoint, whose lengths were better: each is a multiple of the
    // demands.
    const double phases = static_cast<double>(found_.phases);
    found_.reached_time_s = std::min(
        {found_.reached_time_s, slowest(false) / phases, slowest(true) / (phases - static_cast<double>(checkpoint))});
    if (found_.gap() <= epsilon || found_.reached_time_s <= settings.enough_s) break;
    if (found_.phases >= 2 * checkpoint + 8) {
      checkpoint = found_.phases;
      busy_before_s_ = busy_s_;
      prove_more_bounds();
      growth_ *= kGrowthDecay;
    }
  }
  return found_;
}

}  // namespace

absl::StatusOr<ConcurrentFlow> max_concurrent_flow(const Topology& topology, const CableResources& resources,
                                                   std::span<const Demand> demands,
                                                   const ConcurrentFlowSettings& settings) {
  return FlowSearch(topology, resources, by_source(demands)).run(settings);
}

}  // namespace cableway::sim
