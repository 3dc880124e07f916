// Predicts a workload on a topology chunk by chunk, with the real relays and flow ends over cables in virtual time.
#ifndef CABLEWAY_SIM_PREDICTION_PREDICTION_H_
#define CABLEWAY_SIM_PREDICTION_PREDICTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/prediction/cable_load.h"
#include "sim/prediction/circuit_world.h"
#include "sim/prediction/collective_run.h"
#include "sim/prediction/job_run.h"
#include "sim/prediction/use_timeline.h"
#include "sim/workload/mix_file.h"
#include "sim/workload/workload.h"

namespace cableway::sim {

struct PredictionRequest {
  workload::Workload workload;
  std::uint64_t size = 0;                 // bytes, as nccl-tests counts them; rounded as the workload requires
  std::optional<workload::Mix> mix;       // replaces workload, size and operations by those of groups of ranks
  std::vector<routing::NodeIndex> ranks;  // the node of each rank; a node may have several
  int channels = 2;
  std::uint64_t step_bytes = 0;  // 0: as NCCL, 512 KiB for collectives and 128 KiB for the rest
  CollectiveFacts collective;
  CircuitOptions circuits;
  bool settled = false;  // flows are on the paths on which they settle in a long job (settled_numbers.h)
  std::vector<CableCut> cuts;
  std::size_t timeline_samples = 0;  // at most; 0: none (use_timeline.h)
  // Called occasionally with the share done (0 to 1) and the elapsed virtual time.
  std::function<void(double share_done, double virtual_s)> progress = [](double, double) {};
};

struct RelayLoad {
  routing::NodeIndex node;
  std::size_t circuits = 0;
  std::size_t most_leases = 0;  // most slots leased at the same time
  std::uint64_t bytes = 0;      // of those slots
};

// A group of a mix, or all ranks.
struct GroupPrediction {
  std::string name;  // empty if there is no mix
  workload::Workload workload;
  int ranks = 0;
  std::uint64_t size = 0;  // after rounding
  double started_s = 0;
  // By completed operation: from the end of the previous one on all ranks, times time_share().
  std::vector<double> operation_s;
  double time_s = 0;      // of one operation: the mean; 0: none completed
  double algbw_GBps = 0;  // GB/s
  double busbw_GBps = 0;  // GB/s
};

// A job that was ended by a cut before it was done: a flow had no path left.
struct EarlyEnd {
  double share_done = 0;  // of all messages, 0 to 1
  std::string reason;     // of the flow that ended first
};

struct Prediction {
  std::uint64_t size = 0;           // after rounding. This and the next four: of the only group, 0 or empty for a mix
  std::vector<double> operation_s;  // see GroupPrediction
  double time_s = 0;                // for a mix: until all groups are done. 0 if the job ended early
  double algbw_GBps = 0;
  double busbw_GBps = 0;
  std::vector<GroupPrediction> groups;
  double whole_s = 0;  // from start to end
  std::optional<EarlyEnd> early_end;
  std::vector<CutEffect> cuts;    // in the order of the request
  std::uint64_t bytes_again = 0;  // sent again after cuts
  std::uint64_t messages = 0;     // that all ranks send, as collperf's messages_sent; 0 at flow level
  std::vector<CableLoad> cables;  // all, both directions, in the order of cables
  std::size_t hottest = 0;        // index into `cables`
  std::vector<SharedLoad> shared;
  std::vector<RelayLoad> relays;  // nodes that circuits pass through
  UseSamples timeline;
  std::size_t flows = 0;
  std::size_t circuits = 0;       // of these; 0 at flow level
  std::uint64_t crossings = 0;    // chunks that crossed a cable
  std::uint64_t occurrences = 0;  // events of the virtual clock
};

// Unavailable: two ranks have no path. InvalidArgument: fewer than two ranks, or the mix names a rank that does not
// exist. A cut that ends the job is not an error.
absl::StatusOr<Prediction> predict(const routing::Topology& topology, const PredictionRequest& request);

// Sets `utilisation` of all loads from their bytes, `hottest` and `shared`.
void note_utilisation(const routing::Topology& topology, Prediction& prediction);

// The workloads of a request, in the order of GroupPrediction: one for each group of its mix, or the only one.
// InvalidArgument: as predict().
absl::StatusOr<std::vector<workload::MixGroup>> groups_of(const PredictionRequest& request);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_PREDICTION_H_
