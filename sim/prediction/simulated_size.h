// Estimates the memory of a prediction, so that one that is too large is refused before it exhausts the memory. Running
// time is not bounded: consecutive operations add time, but need the memory of one.
#ifndef CABLEWAY_SIM_PREDICTION_SIMULATED_SIZE_H_
#define CABLEWAY_SIM_PREDICTION_SIMULATED_SIZE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/prediction/prediction.h"
#include "sim/workload/workload.h"

namespace cableway::sim {

// No prediction may take more, however much is free: it would take hours.
inline constexpr std::uint64_t kMaxPredictionBytes = 8'000'000'000;
// The peak of a prediction that is not tiny is at least the estimate divided by this, and at most that times it.
inline constexpr double kEstimateFactor = 2;

struct SimulatedSize {
  std::uint64_t flows = 0;
  std::uint64_t hops = 0;           // of all circuits of all flows; 0: not counted, since there are too many flows
  std::uint64_t held_messages = 0;  // of one operation of each group: later ones reuse its schedule
};

// The largest message that a rank sends: `step_bytes`, or as NCCL, 512 KiB for collectives and 128 KiB for the rest.
std::uint64_t message_bytes(const PredictionRequest& request, const workload::Workload& workload);

// An upper bound on the pairs of ranks that exchange data; exact for an all_to_all.
std::uint64_t pair_count(const workload::Workload& workload, int ranks);

enum class PredictionLevel { kChunk, kFlow };

// Errors are those of groups_of(). Of more than some thousand pairs of ranks it computes the paths of a sample only, so
// it takes at most seconds.
absl::StatusOr<SimulatedSize> simulated_size(const routing::Topology& topology, const PredictionRequest& request,
                                             PredictionLevel level = PredictionLevel::kChunk);

// The peak of the memory that predict() (kChunk) or predict_flow_level() (kFlow) takes, in bytes.
std::uint64_t predicted_memory_bytes(const routing::Topology& topology, const PredictionRequest& request,
                                     const SimulatedSize& size, PredictionLevel level);

// ResourceExhausted if the estimate exceeds kMaxPredictionBytes or `free_bytes`: names both, and what to change.
absl::Status check_simulated_size(const routing::Topology& topology, const PredictionRequest& request,
                                  PredictionLevel level, std::uint64_t free_bytes);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_SIMULATED_SIZE_H_
