#include "tools/cableway/sim/mix_bound.h"

#include <algorithm>
#include <vector>

namespace cableway::cli {

absl::StatusOr<sim::CableBound> job_bound(const routing::Topology& topology, const sim::PredictionRequest& request,
                                          const sim::ConcurrentFlowSettings& settings) {
  const absl::StatusOr<std::vector<workload::MixGroup>> groups = sim::groups_of(request);
  if (!groups.ok()) return groups.status();
  if (!request.mix) return sim::cable_bound(topology, request.ranks, groups->front().workload, settings);
  std::vector<sim::CableBound> done;  // by group: up to its end
  for (const workload::MixGroup& group : *groups) {
    std::vector<routing::NodeIndex> nodes;
    nodes.reserve(group.ranks.size());
    for (const int rank : group.ranks) nodes.push_back(request.ranks[static_cast<std::size_t>(rank)]);
    absl::StatusOr<sim::CableBound> alone = sim::cable_bound(topology, nodes, group.workload, settings);
    if (!alone.ok()) return alone.status();
    // While a pipeline fills for one operation, the one before it still empties.
    if (alone->method != sim::BoundMethod::kPipelineFill) alone->seconds *= group.repeat;
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
