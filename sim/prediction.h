// What a workload will do on a topology, chunk by chunk: the real relays and flow ends over cables in virtual time.
#ifndef CABLEWAY_SIM_PREDICTION_H_
#define CABLEWAY_SIM_PREDICTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology.h"
#include "sim/circuit_world.h"
#include "sim/collective_run.h"
#include "sim/workload/workload.h"

namespace cableway::sim {

struct PredictionRequest {
  workload::Workload workload;
  std::uint64_t size = 0;                 // bytes, as nccl-tests counts them; rounded as the workload needs
  std::vector<routing::NodeIndex> ranks;  // the node of each rank; a node may have several
  int channels = 2;
  std::uint64_t step_bytes = 0;  // 0: as NCCL, 512 KiB for collectives and 128 KiB for the rest
  CollectiveFacts collective;
  CircuitOptions circuits;
};

// One direction of a cable.
struct CableLoad {
  routing::CableIndex cable;
  bool from_a = true;
  std::uint64_t bytes = 0;
  double utilisation = 0;  // of its rate, over the whole time
};

struct RelayLoad {
  routing::NodeIndex node;
  std::size_t circuits = 0;
  std::size_t most_leases = 0;  // slots above the circuits' own, at a time
  std::uint64_t bytes = 0;      // of all those slots
};

struct Prediction {
  std::uint64_t size = 0;           // after rounding
  std::vector<double> operation_s;  // by operation: from the end of the one before it on all ranks
  double time_s = 0;                // of one operation: the mean
  double algbw_gbps = 0;            // GB/s
  double busbw_gbps = 0;            // GB/s
  std::vector<CableLoad> cables;    // all, both directions, in the order of cables
  std::size_t hottest = 0;          // its place in `cables`
  std::vector<RelayLoad> relays;    // nodes that circuits pass through
  std::size_t flows = 0;
  std::uint64_t crossings = 0;    // chunks over cables
  std::uint64_t occurrences = 0;  // of the virtual clock
};

// Unavailable: two ranks cannot reach each other. InvalidArgument: fewer than two ranks.
absl::StatusOr<Prediction> predict(const routing::Topology& topology, const PredictionRequest& request);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_H_
