// Predictions as in prediction.h, at flow level (flow_model/flow_level_run.h): for systems too large to simulate chunk
// by chunk, and for comparison.
#ifndef CABLEWAY_SIM_PREDICTION_FLOW_PREDICTION_H_
#define CABLEWAY_SIM_PREDICTION_FLOW_PREDICTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/prediction/prediction.h"

namespace cableway::sim {

// All data from one rank to another is one transfer per channel. All transfers of a group's operations start at once,
// so forwarding in a ring or tree, and waiting for latencies, take no time here. Headers count as on the cables. There
// are no cuts, relays, timeline or crossings; each group's operations take equal times; progress reports no time. With
// more than 10,000 transfers, end times are accurate to a thousandth. Errors are those of predict(); also
// InvalidArgument for more than kMaxFlowTransfers.
absl::StatusOr<Prediction> predict_flow_level(const routing::Topology& topology, const PredictionRequest& request);

inline constexpr std::size_t kMaxFlowTransfers = 4'000'000;

// The topology without some of its cables. Precondition: `cables` are cables of it, sorted.
routing::Topology without_cables(const routing::Topology& topology, const std::vector<routing::CableIndex>& cables);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_FLOW_PREDICTION_H_
