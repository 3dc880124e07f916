// A topology as a picture shows it: a switch is a box of its own, not a cable between every two of its ports.
#ifndef CABLEWAY_ROUTING_LAYOUT_SWITCH_BOXES_H_
#define CABLEWAY_ROUTING_LAYOUT_SWITCH_BOXES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// A node's port on a switch.
struct SwitchPort {
  std::string box;                  // the name of the switch's node
  std::string node;                 // whose port it is
  std::string name;                 // "n0 eth1", "n0 plug p0"
  std::vector<std::string> cables;  // names of those that end at the port, in their order, at least two
  std::size_t others = 0;           // ports that the switch joins it with
  std::uint64_t rate_mbps = 0;      // of all of its cables together, in each direction
};

struct BoxedTopology {
  // In place of the cables of a switch, a node for it and a cable to each of its ports, which has no interface. The
  // indices of nodes and cables are not those of the topology that was given.
  Topology drawn;
  std::map<std::string, SwitchPort, std::less<>> ports;  // by the name of the cable in `drawn`
  std::set<std::string, std::less<>> boxes;              // names of the switches' nodes
};

// A switch is what joins three ports or more, each with each (routing/topology/physical_cable.h). One of which `keeps`
// is true for a cable stays as it is, so that this cable is seen. So does a topology that would become larger than one
// may be. Pure.
//
//   switch:4 has four nodes and six cables; drawn, it has five nodes and four cables.
BoxedTopology with_switch_boxes(const Topology& topology, const std::function<bool(const Cable&)>& keeps);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LAYOUT_SWITCH_BOXES_H_
