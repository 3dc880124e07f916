// How much a simulation at chunk level has to hold: so that one that is too large is refused before it takes all
// memory. How long it takes is another matter: operations that follow each other take time, and the memory of one.
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
  std::uint64_t flows = 0;          // at most
  std::uint64_t hops = 0;           // of all flows
  std::uint64_t held_messages = 0;  // of one operation of each group: those that follow use the same schedule
};

// What a rank sends as one message at most: `step_bytes`, or as NCCL, 512 KiB for collectives and 128 KiB for the rest.
std::uint64_t message_bytes(const PredictionRequest& request, const workload::Workload& workload);

// How many pairs of ranks exchange data, at most; of an all_to_all all.
std::uint64_t pair_count(const workload::Workload& workload, int ranks);

// Errors are those of groups_of(). Looks for the paths only where there are few enough flows.
absl::StatusOr<SimulatedSize> simulated_size(const routing::Topology& topology, const PredictionRequest& request);

// ResourceExhausted says what is too much of, and what can be done.
absl::Status check_simulated_size(const routing::Topology& topology, const PredictionRequest& request);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_SIMULATED_SIZE_H_
