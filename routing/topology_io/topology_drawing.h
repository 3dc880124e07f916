// Draws a topology in ASCII.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_DRAWING_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_DRAWING_H_

#include <cstddef>
#include <string>

#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kDrawingColumns = 100;
// Larger drawings are unreadable, and finding a layout for them is slow.
inline constexpr std::size_t kMaxNodesDrawn = 400;

// A line of facts (kind, nodes, switches, cables, rate, latency), then the drawing, all within kDrawingColumns columns:
//   - rings as rectangles, lines row by row, tori as grids whose wrap-around cables end at "(node)";
//   - full meshes of four with their diagonals; stars and trees indented below their root;
//   - everything else, and drawings that are too wide or have more than kMaxNodesDrawn nodes, as the list of each
//     node's neighbours.
// A switch is one thing, [switch], with a line to each of its ports (routing/layout/switch_boxes.h): alone it is the
// root of a star. Below the drawing, notes list what cables alone do not show: draining nodes, cables that drain or
// lose packets, how many cables a switch stands for, cables that are one wire, ports that several cables share. A cable
// shows its name unless it is the default one, and its rate if the rates differ. A double line (=) stands for several
// cables. Long names are cut and marked with ~. Every line ends with a newline.
std::string draw_topology(const Topology& topology);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_DRAWING_H_
