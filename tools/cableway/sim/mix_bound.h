// The least time in which cables can do what `cableway sim` was asked for, a mix included.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_MIX_BOUND_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_MIX_BOUND_H_

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/cable_bound.h"
#include "sim/prediction/prediction.h"

namespace cableway::cli {

// Of operations one after the other: what they take at least, all together, by their number: the mean, as of a
// prediction. Of a mix: groups that wait for each other take at least their bounds one after
// the other, as if each were alone; the bound of the longest such row, with the method of its last group. Errors are
// those of sim::cable_bound() and sim::groups_of().
absl::StatusOr<sim::CableBound> job_bound(const routing::Topology& topology, const sim::PredictionRequest& request,
                                          const sim::ConcurrentFlowSettings& settings = {});

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_MIX_BOUND_H_
