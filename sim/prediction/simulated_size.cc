#include "sim/prediction/simulated_size.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/flow/striping.h"
#include "core/flow_circuits/path_share.h"
#include "sim/prediction/flow_prediction.h"
#include "sim/prediction/path_chooser.h"
#include "sim/workload/traffic.h"

namespace cableway::sim {
namespace {

constexpr std::uint64_t kCollectiveStepBytes = 512 << 10;  // NCCL's buffer of 4 MiB in 8 steps
constexpr std::uint64_t kPointToPointStepBytes = 128 << 10;

// The paths of more pairs of ranks are sampled: of some sources those to some destinations.
constexpr std::size_t kExactPairs = 2048;
constexpr std::size_t kSampledSources = 16;
constexpr std::size_t kSampledPerSource = 64;

// Fitted to peaks of 4 to 230 MB; tests/tools/cableway/sim/sim_memory_test.cc measures some of them again.
constexpr std::uint64_t kProgramBytes = 14'000'000;
constexpr std::uint64_t kFlowBytes = 26'000;  // its ends and what is in flight
constexpr std::uint64_t kHopBytes = 9'000;
constexpr std::uint64_t kMessageBytes = 310;
constexpr std::uint64_t kTransferBytes = 200;  // at flow level
constexpr std::uint64_t kTransferHopBytes = 8;
// Of a route table: rates of all cables, and the graph of shortest paths.
constexpr std::uint64_t kTableBytesPerCable = 8;
constexpr std::uint64_t kTableBytesPerNode = 24;

// With more flows the estimate exceeds the limit whatever their paths are; predict_flow_level() refuses more transfers.
// Only that is worth knowing.
constexpr std::uint64_t most_flows(PredictionLevel level) {
  return level == PredictionLevel::kFlow ? kMaxFlowTransfers : kMaxPredictionBytes / (kFlowBytes + kHopBytes);
}

std::string bytes_text(std::uint64_t bytes) {
  const double number = static_cast<double>(bytes);
  return bytes < 1'000'000'000 ? absl::StrFormat("%.0f MB", number / 1e6) : absl::StrFormat("%.1f GB", number / 1e9);
}

bool is_all_to_all(const workload::MixGroup& group) {
  return group.workload.workload.operation == workload::Operation::kAllToAll;
}

// Counts the hops of one group's flows.
class GroupHops {
 public:
  GroupHops(const PredictionRequest& request, const workload::MixGroup& group, PathChooser& paths,
            PredictionLevel level)
      : request_(request), group_(group), paths_(paths), level_(level) {}

  // Of all channels of all pairs in `traffic`, which is sorted by source.
  std::uint64_t of(const std::vector<workload::RankTraffic>& traffic) {
    std::uint64_t hops = 0;
    if (traffic.size() <= kExactPairs) {
      for (const workload::RankTraffic& each : traffic) hops += of_flow(each);
      return hops * channels();
    }
    std::uint64_t sampled = 0;
    for (const workload::RankTraffic& each : sample(traffic)) {
      hops += of_flow(each);
      ++sampled;
    }
    return hops * channels() * traffic.size() / sampled;
  }

 private:
  std::uint64_t channels() const { return static_cast<std::uint64_t>(request_.channels); }
  routing::NodeIndex node(int rank) const {
    return request_.ranks[static_cast<std::size_t>(group_.ranks[static_cast<std::size_t>(rank)])];
  }

  // Some pairs of some sources, since each source needs a route table; evenly spread over both.
  static std::vector<workload::RankTraffic> sample(const std::vector<workload::RankTraffic>& traffic) {
    std::vector<std::size_t> begins;  // of each source
    for (std::size_t i = 0; i < traffic.size(); ++i) {
      if (i == 0 || traffic[i].from != traffic[i - 1].from) begins.push_back(i);
    }
    std::vector<workload::RankTraffic> sampled;
    const std::size_t every = std::max<std::size_t>(1, begins.size() / kSampledSources);
    for (std::size_t i = 0; i < begins.size(); i += every) {
      const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : traffic.size();
      const std::size_t step = std::max<std::size_t>(1, (end - begins[i]) / kSampledPerSource);
      for (std::size_t at = begins[i]; at < end; at += step) sampled.push_back(traffic[at]);
    }
    return sampled;
  }

  // Of all circuits that the flow may have: further ones only if it sends messages that are large enough.
  std::uint64_t of_flow(const workload::RankTraffic& traffic) {
    const routing::NodeIndex source = node(traffic.from);
    const routing::NodeIndex destination = node(traffic.to);
    const std::uint64_t message =
        std::min(traffic.bytes / channels(), message_bytes(request_, group_.workload.workload));
    const bool one_path = level_ == PredictionLevel::kFlow || message <= Striping{}.small_message;
    std::vector<FlowPath> all = paths_.paths(source, destination, paths_.next_flow(source, destination),
                                             one_path ? CircuitShare::kNone : request_.circuits.shares);
    all.resize(std::min(all.size(), kMaxBundle));
    std::uint64_t hops = 0;
    for (const FlowPath& each : all) hops += each.path.hops();
    return hops;
  }

  const PredictionRequest& request_;
  const workload::MixGroup& group_;
  PathChooser& paths_;
  const PredictionLevel level_;
};

void add_group(const PredictionRequest& request, const workload::MixGroup& group, PathChooser& paths,
               PredictionLevel level, SimulatedSize& size) {
  const std::uint64_t channels = static_cast<std::uint64_t>(request.channels);
  const std::uint64_t message = message_bytes(request, group.workload.workload);
  const std::vector<workload::RankTraffic> traffic =
      workload::traffic_of(group.workload.workload, static_cast<int>(group.ranks.size()), group.workload.size);
  if (!is_all_to_all(group)) size.flows += channels * traffic.size();
  for (const workload::RankTraffic& each : traffic) size.held_messages += each.bytes / message + channels;
  size.hops += GroupHops(request, group, paths, level).of(traffic);
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

absl::StatusOr<SimulatedSize> simulated_size(const routing::Topology& topology, const PredictionRequest& request,
                                             PredictionLevel level) {
  const absl::StatusOr<std::vector<workload::MixGroup>> groups = groups_of(request);
  if (!groups.ok()) return groups.status();
  SimulatedSize size;
  for (const workload::MixGroup& group : *groups) {
    if (!is_all_to_all(group)) continue;  // few pairs
    size.flows += static_cast<std::uint64_t>(request.channels) *
                  pair_count(group.workload.workload, static_cast<int>(group.ranks.size()));
  }
  if (size.flows > most_flows(level)) return size;
  PathChooser paths(topology);
  for (const workload::MixGroup& group : *groups) add_group(request, group, paths, level, size);
  return size;
}

std::uint64_t predicted_memory_bytes(const routing::Topology& topology, const PredictionRequest& request,
                                     const SimulatedSize& size, PredictionLevel level) {
  const std::uint64_t sources = std::min<std::uint64_t>(request.ranks.size(), topology.node_count());
  const std::uint64_t tables =
      sources * (kTableBytesPerCable * topology.cable_count() + kTableBytesPerNode * topology.node_count());
  // Hops that were not counted: each flow has one at least.
  const std::uint64_t hops = std::max(size.hops, size.flows);
  if (level == PredictionLevel::kFlow) {
    return kProgramBytes + tables + kTransferBytes * size.flows + kTransferHopBytes * hops;
  }
  return kProgramBytes + tables + kFlowBytes * size.flows + kHopBytes * hops + kMessageBytes * size.held_messages;
}

absl::Status check_simulated_size(const routing::Topology& topology, const PredictionRequest& request,
                                  PredictionLevel level, std::uint64_t free_bytes) {
  const absl::StatusOr<SimulatedSize> size = simulated_size(topology, request, level);
  if (!size.ok()) return size.status();
  const std::uint64_t bytes = predicted_memory_bytes(topology, request, *size, level);
  if (bytes <= std::min(free_bytes, kMaxPredictionBytes)) return absl::OkStatus();
  const bool by_chunk = level == PredictionLevel::kChunk;
  const std::string bound = free_bytes < kMaxPredictionBytes
                                ? absl::StrCat(bytes_text(free_bytes), " are free here")
                                : absl::StrCat("the limit is ", bytes_text(kMaxPredictionBytes));
  const bool has_messages = by_chunk && size->held_messages > 0;
  const std::string messages =
      has_messages ? absl::StrCat(" with ", size->held_messages, " messages in an operation") : "";
  return absl::ResourceExhaustedError(absl::StrCat(
      "too large to simulate ", by_chunk ? "chunk by chunk" : "at flow level", ": ", size->flows, " flows over ",
      std::max(size->hops, size->flows), " hops", messages, " would take about ", bytes_text(bytes), " of memory, and ",
      bound, "; expected a smaller topology, fewer ranks or channels",
      by_chunk ? ", less data, --multipath off or --level flow" : ""));
}

}  // namespace cableway::sim
