// `cableway topology --svg`: the topology as a self-contained picture for any browser.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_TOPOLOGY_SVG_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_TOPOLOGY_SVG_H_

#include <optional>
#include <string>

#include "routing/topology/topology.h"
#include "tools/cableway/picture/picture_marks.h"

namespace cableway::cli {

// Every cable is a line, thicker the faster it is, with all its properties in a tooltip. Every wire has a label, its
// cables' names and its rate, where there is room; with more than 200 wires only what is marked has one. `self` and how
// nodes look: as in topology_dot.h.
std::string topology_svg(const routing::Topology& topology, std::optional<routing::NodeIndex> self);

// With marks, of marked_topology.h: missing nodes and cables are dashed and red, what is not as expected is purple;
// each has a label that says so.
std::string topology_svg(const routing::Topology& topology, const PictureMarks& marks);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_TOPOLOGY_SVG_H_
