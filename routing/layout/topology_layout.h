// Where the nodes of a topology are drawn.
#ifndef CABLEWAY_ROUTING_LAYOUT_TOPOLOGY_LAYOUT_H_
#define CABLEWAY_ROUTING_LAYOUT_TOPOLOGY_LAYOUT_H_

#include <vector>

#include "routing/topology/topology.h"
#include "routing/topology/topology_kind.h"

namespace cableway::routing {

// Between cables that are one wire; others are further apart.
inline constexpr double kTwinGap = 16;

struct Place {
  double x = 0;
  double y = 0;  // downwards
};

struct TopologyLayout {
  std::vector<Place> places;  // by node, all within the size
  double width = 0;
  double height = 0;
  std::vector<double> bends;   // by cable: distance of its middle from the straight line, to the right seen from end a
  std::vector<double> labels;  // by cable: position of its label, 0 at end a, 1 at end b
};

// A line in rows, a torus as its grid, a star around its hub, a tree level by level, all else on a circle. `spacing` is
// the distance of neighbouring nodes; parallel cables are drawn apart, and cables that close a torus's row or column in
// an arc around the nodes between. Pure; the same for equal topologies.
TopologyLayout lay_out(const Topology& topology, const TopologyShape& shape, double spacing);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LAYOUT_TOPOLOGY_LAYOUT_H_
