#include "sim/prediction.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/path_chooser.h"
#include "sim/workload/schedule.h"

namespace cableway::sim {
namespace {

constexpr std::uint64_t kCollectiveStepBytes = 512 << 10;  // NCCL's buffer of 4 MiB in 8 steps
constexpr std::uint64_t kPointToPointStepBytes = 128 << 10;
// Nothing takes longer, unless it never ends.
constexpr Duration kLongest = std::chrono::hours(24);

std::vector<workload::Schedule> schedules(const PredictionRequest& request, std::uint64_t size) {
  workload::ScheduleParameters parameters;
  parameters.workload = request.workload;
  parameters.ranks = static_cast<int>(request.ranks.size());
  parameters.size = size;
  parameters.channels = request.channels;
  parameters.in_flight = static_cast<int>(request.collective.in_flight);
  parameters.step_bytes = request.step_bytes;
  if (parameters.step_bytes == 0) {
    const bool point_to_point = workload::is_point_to_point(request.workload);
    parameters.step_bytes = point_to_point ? kPointToPointStepBytes : kCollectiveStepBytes;
  }
  std::vector<workload::Schedule> list;
  list.reserve(request.ranks.size());
  for (; parameters.rank < parameters.ranks; ++parameters.rank) list.push_back(workload::build_schedule(parameters));
  return list;
}

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

void note_times(const CollectiveRun& run, Prediction& prediction) {
  Instant before;
  for (const Instant& completed : run.completions()) {
    prediction.operation_s.push_back(seconds(completed - before));
    before = completed;
  }
  // All of them over all the time: they overlap, so parts of a later one are done while the first still runs.
  prediction.time_s = seconds(before - Instant{}) / static_cast<double>(prediction.operation_s.size());
}

void note_cables(const CircuitWorld& world, double whole_s, Prediction& prediction) {
  const routing::Topology& topology = world.topology();
  prediction.cables.reserve(2 * topology.cable_count());
  for (std::uint32_t i = 0; i < topology.cable_count(); ++i) {
    const routing::CableIndex cable{i};
    const double bytes_per_second = static_cast<double>(topology.cable(cable).rate_mbps) * 1e6 / 8;
    for (const bool from_a : {true, false}) {
      const std::uint64_t bytes = world.use(cable, from_a).bytes;
      const double most = bytes_per_second * whole_s;
      prediction.cables.push_back({cable, from_a, bytes, most > 0 ? static_cast<double>(bytes) / most : 0});
    }
  }
  const auto hottest = std::max_element(
      prediction.cables.begin(), prediction.cables.end(),
      [](const CableLoad& left, const CableLoad& right) { return left.utilisation < right.utilisation; });
  prediction.hottest = static_cast<std::size_t>(hottest - prediction.cables.begin());
}

void note_relays(const CircuitWorld& world, const CircuitOptions& options, Prediction& prediction) {
  for (std::uint32_t i = 0; i < world.topology().node_count(); ++i) {
    const RelayHost& relay = world.relay(routing::NodeIndex{i});
    if (relay.most_circuits() == 0) continue;
    const std::size_t slots = relay.most_circuits() + relay.pool().most_leased();
    prediction.relays.push_back(
        {routing::NodeIndex{i}, relay.most_circuits(), relay.pool().most_leased(), 1ULL * slots * options.chunk_bytes});
  }
}

}  // namespace

absl::StatusOr<Prediction> predict(const routing::Topology& topology, const PredictionRequest& request) {
  const int ranks = static_cast<int>(request.ranks.size());
  if (ranks < 2) return absl::InvalidArgumentError(absl::StrCat("a workload needs two ranks or more, not ", ranks));
  Prediction prediction;
  prediction.size = workload::rounded_size(request.workload, ranks, request.size);
  VirtualClock clock;
  CircuitWorld world(clock, topology, request.circuits);
  PathChooser paths(topology);
  absl::StatusOr<std::unique_ptr<CollectiveRun>> run =
      CollectiveRun::create(world, paths, request.ranks, schedules(request, prediction.size), request.collective);
  if (!run.ok()) return run.status();
  (*run)->start();
  clock.run_until_true([&] { return (*run)->finished() || !(*run)->status().ok(); }, kLongest);
  if (!(*run)->status().ok()) return (*run)->status();
  if (!(*run)->finished()) return absl::DeadlineExceededError("the workload does not end: it stands still");

  note_times(**run, prediction);
  const double factor = workload::bus_factor(request.workload, ranks);
  prediction.algbw_gbps = static_cast<double>(prediction.size) / prediction.time_s / 1e9;
  prediction.busbw_gbps = prediction.algbw_gbps * factor;
  note_cables(world, seconds((*run)->completions().back() - Instant{}), prediction);
  note_relays(world, request.circuits, prediction);
  prediction.flows = (*run)->flows();
  prediction.crossings = world.crossings();
  prediction.occurrences = clock.calls();
  return prediction;
}

}  // namespace cableway::sim
