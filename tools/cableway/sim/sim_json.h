// `cableway sim --json`: the result, for scripts and for --compare. docs/cli.md lists the fields.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_JSON_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_JSON_H_

#include <string>

#include "tools/cableway/sim/sim_report.h"

namespace cableway::cli {

std::string sim_json(const SimReport& report);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_JSON_H_
