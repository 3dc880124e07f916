// Turns the options of `cableway sim` and a topology into a request to the simulator.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_JOB_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_JOB_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/prediction/prediction.h"
#include "tools/cableway/sim/sim_options.h"

namespace cableway::cli {

// Reads the mix's file, if there is one. Errors are InvalidArgument, except those of
// routing/placement/rank_placement.h; they name what the topology lacks, or the file's fault and its place.
absl::StatusOr<sim::PredictionRequest> make_request(const SimOptions& options, const SimPlan& plan,
                                                    const routing::Topology& topology);

// Checks that there are enough ranks for the workload, or for every group of the mix. InvalidArgument tells what was
// expected.
absl::Status check_fit(const sim::PredictionRequest& request);

// "0,2,n5", "best", or empty: one rank on each node.
absl::StatusOr<std::vector<routing::NodeIndex>> find_ranks(const routing::Topology& topology, const std::string& order);

// By its name, or by its two nodes if they share only this cable: "n0-n1", "0-1".
absl::StatusOr<routing::CableIndex> find_failing_cable(const routing::Topology& topology, const std::string& text);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_JOB_H_
