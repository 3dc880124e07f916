// The topology of a report as a drawing: every cable is two lines, one per direction, more prominent the busier it was.
// The cables of one wire are on a band, and a switch is a box with a cable to each port.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_CABLE_MAP_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_CABLE_MAP_H_

#include <cstddef>
#include <string>

#include "tools/cableway/sim/sim_report.h"

namespace cableway::cli {

// Larger drawings are illegible.
inline constexpr std::size_t kMaxCablesDrawn = 4096;

inline constexpr int kHeatLevels = 6;

// 0: idle; 1 to 5: below 0.25, 0.5, 0.75, 0.9, and above.
int heat_of(double utilisation);
// "idle", "below 25 %", ..
const char* heat_name(int heat);

struct DrawnMap {
  std::string svg;  // an element whose colours are the classes h0 to h5 of the page (report_style.h)
  bool has_bands = false;
  bool has_switches = false;
};

// Precondition: at most kMaxCablesDrawn cables.
DrawnMap cable_map(const SimReport& report);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_CABLE_MAP_H_
