// Estimates the memory of a simulation at chunk level, so that one that is too large is refused before it exhausts the
// memory. Running time is not bounded: consecutive operations add time, but need the memory of one.
#ifndef CABLEWAY_SIM_PREDICTION_SIMULATED_SIZE_H_
#define CABLEWAY_SIM_PREDICTION_SIMULATED_SIZE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/prediction/prediction.h"
#include "sim/workload/workload.h"

namespace cableway::sim {

// A message takes some 310 bytes and a hop of a flow 8.7 KB, so these are 3.1 and 4.4 GB.
inline constexpr std::uint64_t kMaxSimulatedHops = 500'000;
inline constexpr std::uint64_t kMaxSimulatedMessages = 10'000'000;

struct SimulatedSize {
  std::uint64_t flows = 0;          // upper bound
  std::uint64_t hops = 0;           // of all flows
  std::uint64_t held_messages = 0;  // of one operation of each group: later ones reuse its schedule
};

// The largest message that a rank sends: `step_bytes`, or as NCCL, 512 KiB for collectives and 128 KiB for the rest.
std::uint64_t message_bytes(const PredictionRequest& request, const workload::Workload& workload);

// An upper bound on the pairs of ranks that exchange data; exact for an all_to_all.
std::uint64_t pair_count(const workload::Workload& workload, int ranks);

// Errors are those of groups_of(). Computes paths only if there are few enough flows.
absl::StatusOr<SimulatedSize> simulated_size(const routing::Topology& topology, const PredictionRequest& request);

// ResourceExhausted names the exceeded limit and suggests alternatives.
absl::Status check_simulated_size(const routing::Topology& topology, const PredictionRequest& request);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_SIMULATED_SIZE_H_
