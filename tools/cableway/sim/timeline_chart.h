// A chart of the hottest cables' utilisation over time.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_TIMELINE_CHART_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_TIMELINE_CHART_H_

#include <cstddef>
#include <string>

#include "tools/cableway/sim/sim_report.h"

namespace cableway::cli {

inline constexpr std::size_t kTimelineRows = 24;

// An svg element: a row for each of the hottest active directions, the hottest first, 0 to 100 % upwards, and a line at
// every cut. Empty where the report has no timeline.
std::string timeline_chart(const SimReport& report);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_TIMELINE_CHART_H_
