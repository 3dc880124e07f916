// Assigns interfaces and addresses to cables that have none: those of generated shapes, and of graphs that only list
// which nodes are joined. The plan is that of `tools/lab`.
#ifndef CABLEWAY_ROUTING_SHAPES_PORT_PLAN_H_
#define CABLEWAY_ROUTING_SHAPES_PORT_PLAN_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// Assigns every cable end its address, and an interface if it has none. Precondition: the ends are existing nodes; at
// most kMaxCables cables.
//   - Cable i is the subnet 10.7.i.0/24, its first end .1, its second .2; 10.8.0.0/24 follows 10.7.255.0/24, and
//     10.0.0.0/24 the last of 10/8.
//   - Interfaces are "to-<peer>", "to-<peer>-2" for the next cable between the two; "cable<i>" if that exceeds the
//     15 characters that Linux allows; with a number appended if the node already uses the name for another port.
void plan_ports(std::span<const Node> nodes, std::vector<Cable>& cables);

// The port of node `number` on a switch shared by all nodes, the only switch in the topology: interface "to-s0",
// address 10.7.0.0/16 + number + 1. Precondition: number < 65535.
Port switch_port(std::uint32_t number);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_SHAPES_PORT_PLAN_H_
