#include "sim/flow_model/cable_bound.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/topology/physical_cable.h"
#include "sim/flow_model/cable_resources.h"
#include "sim/flow_model/concurrent_flow.h"
#include "sim/flow_model/rank_cuts.h"
#include "sim/flow_model/tree_packing.h"
#include "sim/workload/traffic.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using workload::Operation;
using workload::SizedWorkload;
using workload::Workload;

double seconds(double bytes, double rate_mbps) {
  return bytes / (rate_mbps * bytes_per_second(1));
}

void take_longer(CableBound& bound, double found_s, BoundMethod method) {
  if (found_s > bound.seconds) bound = {found_s, method, 0};
}

class BoundSearch {
 public:
  BoundSearch(const routing::Topology& topology, std::span<const NodeIndex> node_of_rank, const Workload& workload,
              std::uint64_t size, const ConcurrentFlowSettings& settings)
      : topology_(topology),
        node_of_rank_(node_of_rank),
        workload_(workload),
        size_(size),
        settings_(settings),
        physical_(routing::physical_cables(topology)),
        cuts_(topology, physical_, node_of_rank) {}

  absl::StatusOr<CableBound> find() {
    if (cuts_.nodes().size() < 2) return CableBound{};
    switch (workload_.operation) {
      case Operation::kAllReduceRing:
      case Operation::kAllReduceTree:
        return all_reduce();
      case Operation::kAllGather:
      case Operation::kReduceScatter:
        return gather();
      case Operation::kBroadcast:
      case Operation::kReduce:
        return from_root();
      case Operation::kPair:
      case Operation::kPingPong:
        return pair();
      case Operation::kPipeline:
        return pipeline();
      case Operation::kAllToAll:
      case Operation::kOpposite:
      case Operation::kNeighbour:
        break;
    }
    return concurrent();
  }

 private:
  NodeIndex node_of(int rank) const { return node_of_rank_[static_cast<std::size_t>(rank)]; }
  double size() const { return static_cast<double>(size_); }

  absl::Status no_path(NodeIndex from, NodeIndex to) const {
    return absl::FailedPreconditionError(
        absl::StrCat("node ", topology_.node(from).name, " has no path to node ", topology_.node(to).name));
  }

  // The least of the minimum cuts between the node of rank 0 and each other node with ranks.
  absl::StatusOr<std::uint64_t> least_cut() {
    const NodeIndex root = node_of(0);
    // Few cuts are smaller than the ports of one node: starting from that limit shortens the searches.
    std::uint64_t least = cuts_.port_capacity(root);
    for (const NodeIndex node : cuts_.nodes()) least = std::min(least, cuts_.port_capacity(node));
    for (const NodeIndex node : cuts_.nodes()) {
      if (node == root) continue;
      least = std::min(least, cuts_.minimum_cut(root, node, least));
      if (least == 0) return no_path(root, node);
    }
    return least;
  }

  absl::StatusOr<CableBound> from_root() {
    const absl::StatusOr<std::uint64_t> least = least_cut();
    if (!least.ok()) return least.status();
    return CableBound{seconds(size(), static_cast<double>(*least)), BoundMethod::kMinimumCut, 0};
  }

  absl::StatusOr<CableBound> gather() {
    if (absl::StatusOr<std::uint64_t> least = least_cut(); !least.ok()) return least.status();
    const std::uint64_t ranks = node_of_rank_.size();
    // The initial guess is the capacity of the ports.
    RankCuts::Rate rate{cuts_.port_capacity(cuts_.nodes()[0]), ranks - cuts_.ranks_at(0)};
    for (std::size_t place = 0; place < cuts_.nodes().size(); ++place) {
      const RankCuts::Rate ports{cuts_.port_capacity(cuts_.nodes()[place]), ranks - cuts_.ranks_at(place)};
      if (ports.value() < rate.value()) rate = ports;
    }
    for (std::size_t place = 0; place < cuts_.nodes().size(); ++place) rate = cuts_.gather_rate(place, rate);
    return CableBound{seconds(size() / static_cast<double>(ranks), rate.value()), BoundMethod::kGatherCut, 0};
  }

  absl::StatusOr<CableBound> all_reduce() {
    const absl::StatusOr<std::uint64_t> least = least_cut();
    if (!least.ok()) return least.status();
    CableBound bound{seconds(size(), static_cast<double>(*least)), BoundMethod::kMinimumCut, 0};
    double injected = 0;
    for (const NodeIndex node : cuts_.nodes()) injected += static_cast<double>(cuts_.port_capacity(node));
    const double nodes = static_cast<double>(cuts_.nodes().size());
    const GraphStrength strength = graph_strength(cuts_.nodes().size(), cuts_.merged_edges());
    take_longer(bound, seconds(size(), strength.value()), BoundMethod::kTreePacking);
    take_longer(bound, seconds(2 * (nodes - 1) * size(), injected), BoundMethod::kInjection);
    return bound;
  }

  absl::StatusOr<CableBound> pair() {
    const NodeIndex from = node_of(workload_.source);
    const NodeIndex to = node_of(workload_.destination);
    if (from == to) return CableBound{};
    const std::uint64_t cut = cuts_.minimum_cut(from, to);
    if (cut == 0) return no_path(from, to);
    return CableBound{seconds(size(), static_cast<double>(cut)), BoundMethod::kMinimumCut, 0};
  }

  // `known_s` is a bound that is already proven: a smaller one need not be exact.
  absl::StatusOr<CableBound> concurrent(double known_s = 0) const {
    std::vector<Demand> demands;
    for (const workload::RankTraffic& traffic :
         workload::traffic_of(workload_, static_cast<int>(node_of_rank_.size()), size_)) {
      const Demand demand{node_of(traffic.from), node_of(traffic.to), static_cast<double>(traffic.bytes)};
      if (demand.source != demand.destination) demands.push_back(demand);
    }
    if (demands.empty()) return CableBound{};
    ConcurrentFlowSettings settings = settings_;
    settings.enough_s = std::max(settings.enough_s, known_s);
    const CableResources resources(topology_, physical_);
    const absl::StatusOr<ConcurrentFlow> flow = max_concurrent_flow(topology_, resources, demands, settings);
    if (!flow.ok()) return flow.status();
    return CableBound{flow->least_time_s, BoundMethod::kConcurrentFlow, flow->gap()};
  }

  // The cuts between the nodes of consecutive stages, if these differ.
  absl::StatusOr<std::vector<double>> stage_cuts() {
    std::vector<double> cuts;
    for (int rank = 0; rank + 1 < static_cast<int>(node_of_rank_.size()); ++rank) {
      const NodeIndex from = node_of(rank);
      const NodeIndex to = node_of(rank + 1);
      if (from == to) continue;
      const std::uint64_t cut = cuts_.minimum_cut(from, to);
      if (cut == 0) return no_path(from, to);
      cuts.push_back(static_cast<double>(cut));
    }
    return cuts;
  }

  // The pipeline's time: the first batch reaches the stage through all earlier ones, then all batches leave it, then
  // the last batch passes the remaining stages.
  absl::StatusOr<CableBound> pipeline() {
    const absl::StatusOr<std::vector<double>> cuts = stage_cuts();
    if (!cuts.ok()) return cuts.status();
    const std::uint64_t first = std::min(size_, workload::micro_batch_bytes(size_, workload_.micro_batches));
    const std::uint64_t last = size_ - (size_ - 1) / first * first;
    double behind_s = 0;
    for (const double cut : *cuts) behind_s += seconds(static_cast<double>(last), cut);
    double before_s = 0;
    double longest_s = 0;
    for (const double cut : *cuts) {
      behind_s -= seconds(static_cast<double>(last), cut);
      longest_s = std::max(longest_s, before_s + seconds(size(), cut) + behind_s);
      before_s += seconds(static_cast<double>(first), cut);
    }
    absl::StatusOr<CableBound> bound = concurrent(longest_s);
    if (!bound.ok()) return bound;
    bound->repeated_s = bound->seconds;
    take_longer(*bound, longest_s, BoundMethod::kPipelineFill);
    return bound;
  }

  const routing::Topology& topology_;
  const std::span<const NodeIndex> node_of_rank_;
  const Workload workload_;
  const std::uint64_t size_;
  const ConcurrentFlowSettings settings_;
  const routing::PhysicalCables physical_;
  RankCuts cuts_;
};

}  // namespace

std::string_view method_name(BoundMethod method) {
  switch (method) {
    case BoundMethod::kNoCable:
      return "no cable";
    case BoundMethod::kMinimumCut:
      return "minimum cut";
    case BoundMethod::kGatherCut:
      return "gather cut";
    case BoundMethod::kTreePacking:
      return "tree packing";
    case BoundMethod::kInjection:
      return "injection";
    case BoundMethod::kConcurrentFlow:
      return "concurrent flow";
    case BoundMethod::kPipelineFill:
      return "pipeline fill";
  }
  return "";
}

absl::StatusOr<CableBound> cable_bound(const routing::Topology& topology, std::span<const NodeIndex> node_of_rank,
                                       const SizedWorkload& sized, const ConcurrentFlowSettings& settings) {
  const int ranks = static_cast<int>(node_of_rank.size());
  if (absl::Status status = workload::check_ranks(sized.workload, ranks); !status.ok()) return status;
  const std::uint64_t size = workload::rounded_size(sized.workload, ranks, sized.size);
  absl::StatusOr<CableBound> bound = BoundSearch(topology, node_of_rank, sized.workload, size, settings).find();
  if (bound.ok() && bound->method != BoundMethod::kPipelineFill) bound->repeated_s = bound->seconds;
  return bound;
}

}  // namespace cableway::sim
