// What the lines of a report's map stand for: a cable, or a port of a switch with all of its cables.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_MAP_LINES_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_MAP_LINES_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "routing/layout/switch_boxes.h"
#include "tools/cableway/sim/sim_report.h"

namespace cableway::cli {

struct MapLine {
  struct Direction {
    std::string title;  // "c1 n1 -> n2"; "n0 eth1, out" of a port
    std::uint64_t bytes = 0;
    double utilisation = 0;  // of a cable on a wire: the wire's, if that is more
    friend bool operator==(const Direction&, const Direction&) = default;
  };

  std::string name;  // "c1"; empty for a port, and if it is derived from the cable's ends
  Direction from_a;
  Direction from_b;
  bool is_cut = false;

  double most() const { return std::max(from_a.utilisation, from_b.utilisation); }
  friend bool operator==(const MapLine&, const MapLine&) = default;
};

// The report's topology with boxes for switches, except for one of which a cable was cut.
routing::BoxedTopology boxed_topology(const SimReport& report);

// By cable of `boxed.drawn`, which boxed_topology() returned for the same report. Pure.
std::vector<MapLine> map_lines(const SimReport& report, const routing::BoxedTopology& boxed);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_MAP_LINES_H_
