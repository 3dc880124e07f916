// `cableway sim`: runs sim/prediction and sim/flow_model according to the options, and passes the results to the views
// in tools/cableway/sim.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_SIM_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_SIM_H_

#include <memory>

#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> sim_verb();

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_SIM_H_
