#include "tools/cableway/sim/mix_bound.h"

#include <algorithm>
#include <vector>

namespace cableway::cli {
namespace {

// The bound of all operations together: they overlap, so one fills its pipeline while the previous one drains.
sim::CableBound of_operations(sim::CableBound one, double operations) {
  if (operations * one.repeated_s > one.seconds) {
    one.seconds = operations * one.repeated_s;
    if (one.method == sim::BoundMethod::kPipelineFill) one.method = sim::BoundMethod::kConcurrentFlow;
  }
  return one;
}

}  // namespace

absl::StatusOr<sim::CableBound> job_bound(const routing::Topology& topology, const sim::PredictionRequest& request,
                                          const sim::ConcurrentFlowSettings& settings) {
  const absl::StatusOr<std::vector<workload::MixGroup>> groups = sim::groups_of(request);
  if (!groups.ok()) return groups.status();
  if (!request.mix) {
    const absl::StatusOr<sim::CableBound> one =
        sim::cable_bound(topology, request.ranks, groups->front().workload, settings);
    if (!one.ok()) return one.status();
    const double operations = static_cast<double>(request.collective.operations);
    sim::CableBound mean = of_operations(*one, operations);
    mean.seconds /= operations;
    return mean;
  }
  std::vector<sim::CableBound> done;  // by group: up to its end
  for (const workload::MixGroup& group : *groups) {
    std::vector<routing::NodeIndex> nodes;
    nodes.reserve(group.ranks.size());
    for (const int rank : group.ranks) nodes.push_back(request.ranks[static_cast<std::size_t>(rank)]);
    absl::StatusOr<sim::CableBound> alone = sim::cable_bound(topology, nodes, group.workload, settings);
    if (!alone.ok()) return alone.status();
    *alone = of_operations(*alone, group.repeat);
    double before_s = 0;
    for (const std::size_t earlier : group.after) before_s = std::max(before_s, done[earlier].seconds);
    for (const std::size_t earlier : group.after) alone->gap = std::max(alone->gap, done[earlier].gap);
    alone->seconds += before_s;
    done.push_back(*alone);
  }
  return *std::max_element(done.begin(), done.end(), [](const sim::CableBound& left, const sim::CableBound& right) {
    return left.seconds < right.seconds;
  });
}

}  // namespace cableway::cli
