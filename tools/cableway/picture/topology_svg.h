// `cableway topology --svg`: the topology as a self-contained picture for any browser.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_TOPOLOGY_SVG_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_TOPOLOGY_SVG_H_

#include <optional>
#include <string>

#include "routing/topology/topology.h"
#include "tools/cableway/picture/picture_marks.h"

namespace cableway::cli {

// Every cable is a line, thicker the faster it is, with its rate and, in a tooltip, all its properties; with more than
// 200 cables the rates are in the tooltips only. `self` and how nodes look: as in topology_dot.h.
std::string topology_svg(const routing::Topology& topology, std::optional<routing::NodeIndex> self);

// With marks, of marked_topology.h: missing nodes are dashed, missing cables dashed, both red, what is not as expected
// is purple; each has a label that says so.
std::string topology_svg(const routing::Topology& topology, const PictureMarks& marks);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_TOPOLOGY_SVG_H_
