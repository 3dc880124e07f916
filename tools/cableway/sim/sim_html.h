// `cableway sim --html`: what was found, as one page that any browser shows, with nothing from elsewhere in it and no
// scripts. It is well-formed XML, too.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_HTML_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_HTML_H_

#include <string>

#include "tools/cableway/sim/sim_report.h"

namespace cableway::cli {

// The table has the hottest cables, kMaxCableRows of them at most.
inline constexpr std::size_t kMaxCableRows = 500;

std::string sim_html(const SimReport& report);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_HTML_H_
