// A topology as people draw it, in ASCII.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_DRAWING_H_
#define CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_DRAWING_H_

#include <cstddef>
#include <string>

#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kDrawingColumns = 100;
// More than that nobody takes in at a glance, and looking for a layout takes time.
inline constexpr std::size_t kMaxNodesDrawn = 400;

// A line of facts (kind, nodes, cables, rate, latency), then the drawing, all within kDrawingColumns columns:
//   - rings as rectangles, lines row by row, tori as grids whose wrap-around cables end at "(node)";
//   - full meshes of four with their diagonals; stars and trees indented below their root;
//   - everything else, and what would be too wide or has more than kMaxNodesDrawn nodes, as the list of each node's
//   neighbours.
// Below it, what cables alone do not show: draining nodes, cables that are one wire, ports that several cables share (a
// switch segment is drawn as the cables between all its nodes, with such a note for every port).
// A cable shows its name unless that is the default one, and its rate where not all rates are the same. A double line
// (=) is several cables. Long names are cut, marked with ~. Every line ends with a newline.
std::string draw_topology(const Topology& topology);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_IO_TOPOLOGY_DRAWING_H_
