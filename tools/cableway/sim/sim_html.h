// `cableway sim --html`: the result as one self-contained page for any browser, without scripts. It is also well-formed
// XML.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_HTML_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_HTML_H_

#include <string>

#include "tools/cableway/sim/sim_report.h"

namespace cableway::cli {

// Rows of the cable table, which starts with the hottest.
inline constexpr std::size_t kMaxCableRows = 500;

std::string sim_html(const SimReport& report);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_HTML_H_
