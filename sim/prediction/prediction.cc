#include "sim/prediction/prediction.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/prediction/path_chooser.h"
#include "sim/prediction/simulated_size.h"
#include "sim/workload/schedule.h"

namespace cableway::sim {
namespace {

// Bounds workloads that never end.
constexpr std::chrono::hours kLongestJob{24};
constexpr std::uint64_t kMomentsPerProgress = 1 << 10;
// The length of a sample, in units of the time that a chunk takes on the slowest cable.
constexpr double kChunksPerSample = 8;

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

double bytes_per_second_of(const routing::Topology& topology, routing::CableIndex cable) {
  return static_cast<double>(topology.cable(cable).rate_mbps) * 1e6 / 8;
}

std::vector<workload::Schedule> schedules(const PredictionRequest& request, const workload::MixGroup& group) {
  workload::ScheduleParameters parameters;
  parameters.workload = group.workload.workload;
  parameters.ranks = static_cast<int>(group.ranks.size());
  parameters.size = group.workload.size;
  parameters.channels = request.channels;
  parameters.in_flight = static_cast<int>(request.collective.in_flight);
  parameters.step_bytes = message_bytes(request, parameters.workload);
  std::vector<workload::Schedule> list;
  list.reserve(group.ranks.size());
  for (; parameters.rank < parameters.ranks; ++parameters.rank) list.push_back(workload::build_schedule(parameters));
  return list;
}

std::vector<JobGroup> job_groups(const PredictionRequest& request, const std::vector<workload::MixGroup>& groups) {
  std::vector<JobGroup> list;
  list.reserve(groups.size());
  for (const workload::MixGroup& group : groups) {
    JobGroup job;
    for (const int rank : group.ranks) job.nodes.push_back(request.ranks[static_cast<std::size_t>(rank)]);
    job.schedules = schedules(request, group);
    job.facts = {request.collective.in_flight, static_cast<std::uint64_t>(group.repeat)};
    job.after = group.after;
    list.push_back(std::move(job));
  }
  return list;
}

Duration first_sample(const routing::Topology& topology, const CircuitOptions& circuits) {
  double slowest = bytes_per_second_of(topology, routing::CableIndex{0});
  for (std::uint32_t i = 1; i < topology.cable_count(); ++i) {
    slowest = std::min(slowest, bytes_per_second_of(topology, routing::CableIndex{i}));
  }
  return Duration(static_cast<Duration::rep>(kChunksPerSample * circuits.chunk_bytes / slowest * 1e9));
}

GroupPrediction group_prediction(const workload::MixGroup& group, const JobRun::GroupTimes& times) {
  GroupPrediction prediction;
  prediction.name = group.name;
  prediction.workload = group.workload.workload;
  prediction.ranks = static_cast<int>(group.ranks.size());
  prediction.size = group.workload.size;
  prediction.started_s = seconds(times.started - Instant{});
  const double share = workload::time_share(prediction.workload);
  Instant before = times.started;
  for (const Instant& completed : times.completions) {
    prediction.operation_s.push_back(seconds(completed - before) * share);
    before = completed;
  }
  if (prediction.operation_s.empty()) return prediction;
  // The mean over the whole time, since operations overlap: parts of a later one are done while the first still runs.
  prediction.time_s = seconds(before - times.started) * share / static_cast<double>(prediction.operation_s.size());
  prediction.algbw_GBps = static_cast<double>(prediction.size) / prediction.time_s / 1e9;
  prediction.busbw_GBps = prediction.algbw_GBps * workload::bus_factor(prediction.workload, prediction.ranks);
  return prediction;
}

void note_times(const JobRun& run, const std::vector<workload::MixGroup>& groups, bool is_mix, Prediction& prediction) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    prediction.groups.push_back(group_prediction(groups[i], run.times(i)));
  }
  if (is_mix) {
    if (run.status().ok()) prediction.time_s = prediction.whole_s;
    return;
  }
  const GroupPrediction& all = prediction.groups.front();
  prediction.size = all.size;
  prediction.operation_s = all.operation_s;
  if (!run.status().ok()) return;
  prediction.time_s = all.time_s;
  prediction.algbw_GBps = all.algbw_GBps;
  prediction.busbw_GBps = all.busbw_GBps;
}

void note_cables(const CircuitWorld& world, Prediction& prediction) {
  prediction.cables.reserve(2 * world.topology().cable_count());
  for (std::uint32_t i = 0; i < world.topology().cable_count(); ++i) {
    for (const bool from_a : {true, false}) {
      prediction.cables.push_back({routing::CableIndex{i}, from_a, world.use(routing::CableIndex{i}, from_a).bytes, 0});
    }
  }
  note_utilisation(world.topology(), prediction);
}

void note_relays(const CircuitWorld& world, const CircuitOptions& options, Prediction& prediction) {
  for (std::uint32_t i = 0; i < world.topology().node_count(); ++i) {
    const RelayHost& relay = world.relay(routing::NodeIndex{i});
    if (relay.max_circuits() == 0) continue;
    const std::size_t slots = relay.max_circuits() + relay.pool().max_leased();
    prediction.relays.push_back(
        {routing::NodeIndex{i}, relay.max_circuits(), relay.pool().max_leased(), 1ULL * slots * options.chunk_bytes});
  }
}

// Runs until the job has ended. Internal: no progress. ResourceExhausted: it takes longer than kLongestJob. Other
// errors: a flow ended although nothing was cut.
absl::Status carry_out(VirtualClock& clock, JobRun& run, const PredictionRequest& request) {
  run.start();
  std::uint64_t moments = 0;
  clock.run_until_true(
      [&] {
        if (++moments % kMomentsPerProgress == 0) {
          request.progress(run.share_done(), seconds(clock.now() - Instant{}));
        }
        return run.ended();
      },
      kLongestJob);
  if (!run.ended() && clock.idle()) return absl::InternalError("the workload does not end: it makes no progress");
  if (!run.ended()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the workload takes more than ", std::chrono::hours(kLongestJob).count(),
        " h on these cables; expected less data, faster cables, or --level flow, which has no such limit"));
  }
  const std::vector<CutEffect> cuts = run.cuts();
  const bool was_cut = std::any_of(cuts.begin(), cuts.end(), [](const CutEffect& each) { return each.happened; });
  return was_cut ? absl::OkStatus() : run.status();
}

}  // namespace

absl::StatusOr<std::vector<workload::MixGroup>> groups_of(const PredictionRequest& request) {
  const int ranks = static_cast<int>(request.ranks.size());
  if (ranks < 2) return absl::InvalidArgumentError(absl::StrCat("a workload needs two ranks or more, not ", ranks));
  std::vector<workload::MixGroup> groups;
  if (request.mix.has_value()) {
    const int needed = workload::ranks_needed(*request.mix);
    if (needed > ranks) {
      return absl::InvalidArgumentError(
          absl::StrCat("the mix names rank ", needed - 1, ", but the job has ", ranks, " ranks, 0 to ", ranks - 1));
    }
    groups = request.mix->groups;
  } else {
    workload::MixGroup all;
    all.ranks.resize(request.ranks.size());
    std::iota(all.ranks.begin(), all.ranks.end(), 0);
    all.workload = {request.workload, request.size};
    all.repeat = static_cast<int>(request.collective.operations);
    groups.push_back(std::move(all));
  }
  for (workload::MixGroup& group : groups) {
    group.workload.size =
        workload::rounded_size(group.workload.workload, static_cast<int>(group.ranks.size()), group.workload.size);
  }
  return groups;
}

void note_utilisation(const routing::Topology& topology, Prediction& prediction) {
  for (CableLoad& load : prediction.cables) {
    const double most = bytes_per_second_of(topology, load.cable) * prediction.whole_s;
    load.utilisation = most > 0 ? static_cast<double>(load.bytes) / most : 0;
  }
  const auto hottest = std::max_element(
      prediction.cables.begin(), prediction.cables.end(),
      [](const CableLoad& left, const CableLoad& right) { return left.utilisation < right.utilisation; });
  prediction.hottest = static_cast<std::size_t>(hottest - prediction.cables.begin());
  prediction.shared = shared_loads(topology, prediction.cables, prediction.whole_s);
}

absl::StatusOr<Prediction> predict(const routing::Topology& topology, const PredictionRequest& request) {
  const absl::StatusOr<std::vector<workload::MixGroup>> groups = groups_of(request);
  if (!groups.ok()) return groups.status();
  VirtualClock clock;
  CircuitWorld world(clock, topology, request.circuits);
  PathChooser paths(topology);
  absl::StatusOr<std::unique_ptr<JobRun>> run =
      JobRun::create(world, clock, paths, job_groups(request, *groups), request.cuts, request.settled);
  if (!run.ok()) return run.status();
  std::optional<UseTimeline> timeline;
  if (request.timeline_samples > 0 && topology.cable_count() > 0) {
    timeline.emplace(clock, world, first_sample(topology, request.circuits), request.timeline_samples);
    timeline->start();
  }
  if (absl::Status status = carry_out(clock, **run, request); !status.ok()) return status;

  Prediction prediction;
  prediction.whole_s = seconds(clock.now() - Instant{});
  note_times(**run, *groups, request.mix.has_value(), prediction);
  if (!(*run)->status().ok()) {
    prediction.early_end = EarlyEnd{(*run)->share_done(), std::string((*run)->status().message())};
  }
  prediction.cuts = (*run)->cuts();
  prediction.bytes_again = (*run)->bytes_again();
  prediction.messages = (*run)->messages();
  note_cables(world, prediction);
  note_relays(world, request.circuits, prediction);
  if (timeline.has_value()) prediction.timeline = timeline->samples();
  prediction.flows = (*run)->flows();
  prediction.circuits = (*run)->circuits();
  prediction.crossings = world.crossings();
  prediction.occurrences = clock.calls();
  return prediction;
}

}  // namespace cableway::sim
