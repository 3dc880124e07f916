// The same as prediction.h at flow level (flow_model/flow_level_run.h): for systems that are too large to look at every
// chunk, and to compare with.
#ifndef CABLEWAY_SIM_PREDICTION_FLOW_PREDICTION_H_
#define CABLEWAY_SIM_PREDICTION_FLOW_PREDICTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/prediction/prediction.h"

namespace cableway::sim {

// All that goes from one rank to another is a transfer for each channel. All transfers of a group's operations start at
// once, so what a ring or tree passes on, and what waits for latencies, takes no time here. Headers count as on the
// cables. No cuts, relays, timeline or crossings; each group's operations take equal times; progress is told no time.
// Ends of more than 10,000 transfers are right to a thousandth. Errors are those of predict(); InvalidArgument too
// where there are more than kMaxFlowTransfers.
absl::StatusOr<Prediction> predict_flow_level(const routing::Topology& topology, const PredictionRequest& request);

inline constexpr std::size_t kMaxFlowTransfers = 4'000'000;

// The topology without some of its cables. Precondition: they are cables of it, sorted.
routing::Topology without_cables(const routing::Topology& topology, const std::vector<routing::CableIndex>& cables);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_FLOW_PREDICTION_H_
