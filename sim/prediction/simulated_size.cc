#include "sim/prediction/simulated_size.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/flow_circuits/path_share.h"
#include "sim/prediction/path_chooser.h"
#include "sim/workload/traffic.h"

namespace cableway::sim {
namespace {

constexpr std::uint64_t kCollectiveStepBytes = 512 << 10;  // NCCL's buffer of 4 MiB in 8 steps
constexpr std::uint64_t kPointToPointStepBytes = 128 << 10;

absl::Status too_large(std::uint64_t count, const char* what, std::uint64_t limit) {
  return absl::ResourceExhaustedError(absl::StrCat("too large to simulate chunk by chunk: ", count, " ", what,
                                                   ", and the limit is ", limit,
                                                   "; expected fewer ranks or channels, less data, or --level flow"));
}

// The hops of all circuits that a flow may have.
std::uint64_t hops_of_flow(const PredictionRequest& request, PathChooser& paths, routing::NodeIndex source,
                           routing::NodeIndex destination) {
  std::vector<FlowPath> all =
      paths.paths(source, destination, paths.next_flow(source, destination), request.circuits.shares);
  all.resize(std::min(all.size(), kMaxBundle));
  std::uint64_t hops = 0;
  for (const FlowPath& each : all) hops += each.path.hops();
  return hops;
}

void add_group(const PredictionRequest& request, const workload::MixGroup& group, PathChooser& paths,
               SimulatedSize& size) {
  const std::uint64_t channels = static_cast<std::uint64_t>(request.channels);
  const std::uint64_t message = message_bytes(request, group.workload.workload);
  const auto node = [&](int rank) {
    return request.ranks[static_cast<std::size_t>(group.ranks[static_cast<std::size_t>(rank)])];
  };
  for (const workload::RankTraffic& traffic :
       workload::traffic_of(group.workload.workload, static_cast<int>(group.ranks.size()), group.workload.size)) {
    size.held_messages += traffic.bytes / message + channels;
    // Equal-cost paths have equal numbers of hops.
    size.hops += channels * hops_of_flow(request, paths, node(traffic.from), node(traffic.to));
  }
}

}  // namespace

std::uint64_t message_bytes(const PredictionRequest& request, const workload::Workload& workload) {
  if (request.step_bytes != 0) return request.step_bytes;
  return workload::is_point_to_point(workload) ? kPointToPointStepBytes : kCollectiveStepBytes;
}

std::uint64_t pair_count(const workload::Workload& workload, int ranks) {
  const std::uint64_t count = static_cast<std::uint64_t>(ranks);
  constexpr std::uint64_t kTreeEdges = 8;  // two trees, up and down, two children
  return workload.operation == workload::Operation::kAllToAll ? count * (count - 1) : kTreeEdges * count;
}

absl::StatusOr<SimulatedSize> simulated_size(const routing::Topology& topology, const PredictionRequest& request) {
  const absl::StatusOr<std::vector<workload::MixGroup>> groups = groups_of(request);
  if (!groups.ok()) return groups.status();
  SimulatedSize size;
  for (const workload::MixGroup& group : *groups) {
    size.flows += static_cast<std::uint64_t>(request.channels) *
                  pair_count(group.workload.workload, static_cast<int>(group.ranks.size()));
  }
  if (size.flows > kMaxSimulatedHops) return size;
  PathChooser paths(topology);
  for (const workload::MixGroup& group : *groups) add_group(request, group, paths, size);
  return size;
}

absl::Status check_simulated_size(const routing::Topology& topology, const PredictionRequest& request) {
  const absl::StatusOr<SimulatedSize> size = simulated_size(topology, request);
  if (!size.ok()) return size.status();
  if (size->hops == 0 && size->flows > kMaxSimulatedHops) return too_large(size->flows, "flows", kMaxSimulatedHops);
  if (size->hops > kMaxSimulatedHops) return too_large(size->hops, "hops of flows", kMaxSimulatedHops);
  if (size->held_messages > kMaxSimulatedMessages) {
    return too_large(size->held_messages, "messages in an operation", kMaxSimulatedMessages);
  }
  return absl::OkStatus();
}

}  // namespace cableway::sim
