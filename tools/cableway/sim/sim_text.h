// `cableway sim`: the result as text.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_TEXT_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_TEXT_H_

#include <string>

#include "tools/cableway/sim/sim_report.h"

namespace cableway::cli {

// `all`: every cable and every lost flow, not only the first ten.
std::string sim_text(const SimReport& report, bool all);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_TEXT_H_
