// `cableway sim --what-if`: the throughput of an all_to_all after each failure, and with one more cable.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_WHAT_IF_VIEW_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_WHAT_IF_VIEW_H_

#include <string>

#include "routing/topology/topology.h"
#include "sim/flow_model/added_cable.h"
#include "sim/flow_model/failures.h"

namespace cableway::cli {

struct WhatIf {
  routing::Topology topology;
  std::string source;
  sim::FailureReport failures;
  sim::AddedCableReport added;
  double elapsed_s = 0;
};

// `all`: every case, not only the ten worst of each kind.
std::string what_if_text(const WhatIf& what_if, bool all);

// docs/cli.md lists the fields.
std::string what_if_json(const WhatIf& what_if);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_WHAT_IF_VIEW_H_
