// A lower bound of the time that the cables need for the job of `cableway sim`, a mix included.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_MIX_BOUND_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_MIX_BOUND_H_

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/cable_bound.h"
#include "sim/prediction/prediction.h"

namespace cableway::cli {

// For repeated operations: the mean, as in a prediction: the bound of all together divided by their number. For a mix:
// groups that wait for each other need at least the sum of their bounds, each as if alone; the bound is that of the
// longest such chain, with the method of its last group. Errors are those of sim::cable_bound() and sim::groups_of().
absl::StatusOr<sim::CableBound> job_bound(const routing::Topology& topology, const sim::PredictionRequest& request,
                                          const sim::ConcurrentFlowSettings& settings = {});

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_MIX_BOUND_H_
