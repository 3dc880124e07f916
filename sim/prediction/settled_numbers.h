// The paths on which the flows of a long job settle. Flows with several equally good paths are spread over them before
// their loads are known, and move while ports carry uneven loads (core/flow_circuits/path_balance.h), which takes from
// seconds to a minute. That is computed here at once, from what each flow sends: in rounds, each flow that gains moves,
// until none does.
//
//   ring of four, all flows of one size:   n0 - n1     Flows between n0 and n2, and between n1 and n3, settle away
//   n0 - n2, n1 - n3, two of n1 - n2       |    ||     from the cable n1 - n2.
//                                          n3 - n2
//
// The end differs from a running job's in which of several even loads it is, as flows there move by chance. Flows of
// steps that run one after the other count as if they ran at once, and a flow tries the least loaded of its paths
// alone. Sources: D. Monderer, L. Shapley, "Potential games", 1996.
#ifndef CABLEWAY_SIM_PREDICTION_SETTLED_NUMBERS_H_
#define CABLEWAY_SIM_PREDICTION_SETTLED_NUMBERS_H_

#include <cstdint>
#include <vector>

#include "routing/topology/topology.h"
#include "sim/prediction/path_chooser.h"

namespace cableway::sim {

struct FlowDemand {
  routing::NodeIndex source;
  routing::NodeIndex destination;
  std::uint64_t bytes = 0;  // in the same time for all
  bool may_move = false;    // it has alternates: it sends messages that may be striped
};

// The number of each flow for PathChooser::paths(), with which its first path is the one where it settles. Flows of a
// pair are counted from 0 in their order.
std::vector<std::uint64_t> settled_numbers(const routing::Topology& topology, PathChooser& paths,
                                           const std::vector<FlowDemand>& flows);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_SETTLED_NUMBERS_H_
