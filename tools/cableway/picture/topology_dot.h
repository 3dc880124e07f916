// `cableway topology --dot`: the topology as a Graphviz graph.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_TOPOLOGY_DOT_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_TOPOLOGY_DOT_H_

#include <optional>
#include <string>

#include "routing/topology/topology.h"
#include "tools/cableway/picture/picture_marks.h"

namespace cableway::cli {

// Facts are attributes of its nodes and edges (docs/cli.md, "Graphs of other programs"). `self`: the node whose view
// this is; it is drawn bold, and nodes that it does not reach dashed and red. Draining nodes are grey. A switch is a
// box with square corners, and a cable to each of its ports (drawable_topology.h): such a graph shows no cable between
// these ports.
std::string topology_dot(const routing::Topology& topology, std::optional<routing::NodeIndex> self);

// With marks, of marked_topology.h: missing nodes and cables are dashed, red and `only_expected`; what is not as
// expected is purple.
std::string topology_dot(const routing::Topology& topology, const PictureMarks& marks);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_TOPOLOGY_DOT_H_
