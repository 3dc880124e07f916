// How a node looks in a drawing of the topology.
#ifndef CABLEWAY_TOOLS_CABLEWAY_PICTURE_NODE_LOOK_H_
#define CABLEWAY_TOOLS_CABLEWAY_PICTURE_NODE_LOOK_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::cli {

struct NodeLook {
  bool self = false;       // the node that was queried
  bool draining = false;   // relays nothing
  bool unreached = false;  // known but unreachable: it or its cables have failed
  bool missing = false;    // expected, but not there
  bool extra = false;      // not expected
  bool is_switch = false;  // no node, but what joins its ports (routing/layout/switch_boxes.h)
};

// By node. Without `self`, nodes outside the largest part of the topology count as unreached.
std::vector<NodeLook> node_looks(const routing::Topology& topology, std::optional<routing::NodeIndex> self);

// The same by the nodes' names.
std::map<std::string, NodeLook> looks_by_name(const routing::Topology& topology,
                                              std::optional<routing::NodeIndex> self);

// "draining", "unreached", "missing", "not expected", several of them, or empty.
std::string note_of(const NodeLook& look);

// "c0", or empty if the name is derived from the cable's ends.
std::string own_name(const routing::Topology& topology, const routing::Cable& cable);

// "c0: n0 eth1 10.7.0.1 - n1 eth0 10.7.0.2, 10 Gbit/s, 1 us"
std::string describe_cable(const routing::Topology& topology, const routing::Cable& cable);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_PICTURE_NODE_LOOK_H_
