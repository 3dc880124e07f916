// `cableway plan ranks`: the recommended rank order of a job's nodes, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_RANKS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_RANKS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> plan_ranks_verb();

// `hosts`: the nodes of the job in their current rank order. Errors are those of place_ranks()
// (routing/placement/rank_placement.h). Precondition: all are nodes of `topology`.
absl::StatusOr<std::string> rank_plan_text(const routing::Topology& topology,
                                           const std::vector<routing::NodeIndex>& hosts);

//   planned  {order [nodes by rank], relays, latency_us (null: that of a cable is not known), proven: no order is
//   better} given    {order, relays, latency_us}
absl::StatusOr<std::string> rank_plan_json(const routing::Topology& topology,
                                           const std::vector<routing::NodeIndex>& hosts);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_PLAN_PLAN_RANKS_H_
