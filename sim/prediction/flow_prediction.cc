#include "sim/prediction/flow_prediction.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"
#include "sim/flow_model/flow_level_run.h"
#include "sim/prediction/simulated_size.h"
#include "sim/workload/traffic.h"
#include "sim/workload/workload.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;

// Above this number, transfers that end within a thousandth of the time end together, to limit rate computations.
constexpr std::size_t kExactTransfers = 10'000;
constexpr double kCoarseness = 1e-3;

// The bytes that cross a cable per byte of payload.
double overhead_of(const CircuitOptions& circuits) {
  const std::uint64_t on_wire = circuits.wire.wire_bytes(kFrameHeaderBytes + circuits.chunk_bytes);
  return static_cast<double>(on_wire) / static_cast<double>(circuits.chunk_bytes);
}

// The batches of all operations of a pipeline.
std::uint64_t batch_count(const workload::MixGroup& group) {
  const std::uint64_t batch = workload::micro_batch_bytes(group.workload.size, group.workload.workload.micro_batches);
  return (group.workload.size + batch - 1) / batch * static_cast<std::uint64_t>(group.repeat);
}

// The number of transfers that a group needs per channel.
std::uint64_t transfer_count(const workload::MixGroup& group) {
  const workload::Workload& workload = group.workload.workload;
  const int ranks = static_cast<int>(group.ranks.size());
  if (workload.operation == workload::Operation::kPipeline) return batch_count(group) * (group.ranks.size() - 1);
  // Other operations have few pairs.
  if (workload.operation == workload::Operation::kAllToAll) return pair_count(workload, ranks);
  return workload::traffic_of(workload, ranks, group.workload.size).size();
}

// Checked before any transfer is created, since transfers use memory.
absl::Status check_transfers(const std::vector<workload::MixGroup>& groups, int channels) {
  std::uint64_t count = 0;
  for (const workload::MixGroup& group : groups) {
    count += transfer_count(group) * static_cast<std::uint64_t>(channels);
    if (count > kMaxFlowTransfers) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are more than ", kMaxFlowTransfers, " transfers; expected fewer ranks or channels"));
    }
  }
  return absl::OkStatus();
}

class TransferList {
 public:
  explicit TransferList(const PredictionRequest& request)
      : request_(request), overhead_(overhead_of(request.circuits)) {}

  void add(const workload::MixGroup& group) {
    if (group.workload.workload.operation == workload::Operation::kPipeline) return add_pipeline(group);
    if (group.workload.workload.operation == workload::Operation::kPingPong) return add_ping_pong(group);
    const std::vector<std::uint32_t> after = ends_of(group.after);
    std::vector<std::uint32_t> places;
    for (const workload::RankTraffic& traffic :
         workload::traffic_of(group.workload.workload, static_cast<int>(group.ranks.size()), group.workload.size)) {
      const std::vector<std::uint32_t> added = add_channels(group, traffic, group.repeat, after);
      places.insert(places.end(), added.begin(), added.end());
    }
    add_end(group, std::move(places));
  }

  const std::vector<Transfer>& transfers() const { return transfers_; }
  // By group: the index of the transfer that is done when all of the group's are.
  const std::vector<std::uint32_t>& ends() const { return ends_; }

 private:
  NodeIndex node(const workload::MixGroup& group, int rank) const {
    return request_.ranks[static_cast<std::size_t>(group.ranks[static_cast<std::size_t>(rank)])];
  }

  std::vector<std::uint32_t> ends_of(const std::vector<std::size_t>& groups) const {
    std::vector<std::uint32_t> ends;
    ends.reserve(groups.size());
    for (const std::size_t group : groups) ends.push_back(ends_[group]);
    return ends;
  }

  // A stage sends a batch when it has completely arrived and the previous batch has left; consecutive operations are
  // treated like batches.
  void add_pipeline(const workload::MixGroup& group) {
    const std::uint64_t size = group.workload.size;
    const std::uint64_t batch = workload::micro_batch_bytes(size, group.workload.workload.micro_batches);
    const std::uint64_t batches = batch_count(group);
    const std::uint64_t stages = group.ranks.size() - 1;
    std::vector<std::vector<std::uint32_t>> sent(stages, ends_of(group.after));  // by stage: its last batch
    std::uint64_t left = size;
    for (std::uint64_t i = 0; i < batches; ++i) {
      const std::uint64_t bytes = std::min(batch, left);
      for (std::uint64_t stage = 0; stage < stages; ++stage) {
        std::vector<std::uint32_t> after = sent[stage];
        if (stage > 0) after.insert(after.end(), sent[stage - 1].begin(), sent[stage - 1].end());
        const int rank = static_cast<int>(stage);
        sent[stage] = add_channels(group, {rank, rank + 1, bytes}, 1, after);
      }
      left = left > bytes ? left - bytes : size;
    }
    add_end(group, std::move(sent.back()));
  }

  // The two ways of a round trip take turns. All operations' bytes go one way before all go back: the sum is the same.
  void add_ping_pong(const workload::MixGroup& group) {
    const workload::Workload& workload = group.workload.workload;
    const std::uint64_t size = group.workload.size;
    const std::vector<std::uint32_t> there =
        add_channels(group, {workload.source, workload.destination, size}, group.repeat, ends_of(group.after));
    add_end(group, add_channels(group, {workload.destination, workload.source, size}, group.repeat, there));
  }

  std::vector<std::uint32_t> add_channels(const workload::MixGroup& group, const workload::RankTraffic& traffic,
                                          int times, const std::vector<std::uint32_t>& after) {
    std::vector<std::uint32_t> places;
    for (int channel = 0; channel < request_.channels; ++channel) {
      places.push_back(static_cast<std::uint32_t>(transfers_.size()));
      transfers_.push_back(transfer(group, traffic, times, after));
    }
    return places;
  }

  Transfer transfer(const workload::MixGroup& group, const workload::RankTraffic& traffic, int times,
                    const std::vector<std::uint32_t>& after) {
    const NodeIndex from = node(group, traffic.from);
    const NodeIndex to = node(group, traffic.to);
    const double bytes = static_cast<double>(traffic.bytes) * times / request_.channels * overhead_;
    return {from, to, static_cast<std::uint64_t>(bytes), flows_[{from, to}]++, after};
  }

  // A transfer from a node to itself, which takes no time and stands for all of the group's where groups wait for it.
  void add_end(const workload::MixGroup& group, std::vector<std::uint32_t> places) {
    ends_.push_back(static_cast<std::uint32_t>(transfers_.size()));
    transfers_.push_back({node(group, 0), node(group, 0), 0, 0, std::move(places)});
  }

  const PredictionRequest& request_;
  const double overhead_;
  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> ends_;
  std::map<std::pair<NodeIndex, NodeIndex>, std::uint64_t> flows_;
};

GroupPrediction group_prediction(const workload::MixGroup& group, double started_s, double done_s) {
  GroupPrediction prediction;
  prediction.name = group.name;
  prediction.workload = group.workload.workload;
  prediction.ranks = static_cast<int>(group.ranks.size());
  prediction.size = group.workload.size;
  prediction.started_s = started_s;
  prediction.time_s = (done_s - started_s) * workload::time_share(prediction.workload) / group.repeat;
  prediction.operation_s.assign(static_cast<std::size_t>(group.repeat), prediction.time_s);
  if (prediction.time_s <= 0) return prediction;
  prediction.algbw_GBps = static_cast<double>(prediction.size) / prediction.time_s / 1e9;
  prediction.busbw_GBps = prediction.algbw_GBps * workload::bus_factor(prediction.workload, prediction.ranks);
  return prediction;
}

void note_groups(const std::vector<workload::MixGroup>& groups, const TransferList& list, const FlowLevelResult& result,
                 Prediction& prediction) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    double started_s = 0;
    for (const std::size_t earlier : groups[i].after) {
      started_s = std::max(started_s, result.done_s[list.ends()[earlier]]);
    }
    prediction.groups.push_back(group_prediction(groups[i], started_s, result.done_s[list.ends()[i]]));
  }
}

void note_only_group(Prediction& prediction) {
  const GroupPrediction& all = prediction.groups.front();
  prediction.size = all.size;
  prediction.operation_s = all.operation_s;
  prediction.time_s = all.time_s;
  prediction.algbw_GBps = all.algbw_GBps;
  prediction.busbw_GBps = all.busbw_GBps;
}

}  // namespace

absl::StatusOr<Prediction> predict_flow_level(const routing::Topology& topology, const PredictionRequest& request) {
  const absl::StatusOr<std::vector<workload::MixGroup>> groups = groups_of(request);
  if (!groups.ok()) return groups.status();
  if (absl::Status status = check_transfers(*groups, request.channels); !status.ok()) return status;
  TransferList list(request);
  for (const workload::MixGroup& group : *groups) list.add(group);
  FlowLevelSettings settings;
  if (list.transfers().size() > kExactTransfers) settings.coarseness = kCoarseness;
  settings.progress = [&request](std::size_t done, std::size_t transfers) {
    request.progress(static_cast<double>(done) / static_cast<double>(transfers), 0);
  };
  const absl::StatusOr<FlowLevelResult> result = run_flow_level(topology, list.transfers(), settings);
  if (!result.ok()) return result.status();
  Prediction prediction;
  prediction.whole_s = result->time_s;
  prediction.flows = list.transfers().size() - groups->size();
  note_groups(*groups, list, *result, prediction);
  if (request.mix.has_value()) {
    prediction.time_s = result->time_s;
  } else {
    note_only_group(prediction);
  }
  for (std::uint32_t i = 0; i < topology.cable_count(); ++i) {
    prediction.cables.push_back({routing::CableIndex{i}, true, result->cables[i].bytes_from_a, 0});
    prediction.cables.push_back({routing::CableIndex{i}, false, result->cables[i].bytes_from_b, 0});
  }
  note_utilisation(topology, prediction);
  return prediction;
}

routing::Topology without_cables(const routing::Topology& topology, const std::vector<routing::CableIndex>& cables) {
  std::vector<routing::Cable> left;
  left.reserve(topology.cable_count());
  for (std::uint32_t i = 0; i < topology.cable_count(); ++i) {
    if (!std::binary_search(cables.begin(), cables.end(), routing::CableIndex{i})) {
      left.push_back(topology.cables()[i]);
    }
  }
  // Removing cables breaks no rule of a topology.
  return *routing::Topology::create(topology.cluster(), {topology.nodes().begin(), topology.nodes().end()},
                                    std::move(left));
}

}  // namespace cableway::sim
