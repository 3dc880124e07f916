// Interfaces and addresses for cables that nobody gave any: shapes that are generated, graphs that only say what joins
// what. The plan is that of `tools/lab`.
#ifndef CABLEWAY_ROUTING_SHAPES_PORT_PLAN_H_
#define CABLEWAY_ROUTING_SHAPES_PORT_PLAN_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// Gives every end of every cable its address, and an interface where it has none. Precondition: the ends are nodes that
// exist; at most kMaxCables cables.
//   - Cable i is the subnet 10.7.i.0/24, its first end .1, its second .2; 10.8.0.0/24 follows 10.7.255.0/24, and
//     10.0.0.0/24 the last of 10/8.
//   - Interfaces are "to-<peer>", "to-<peer>-2" for the next cable between the two; "cable<i>" where that is longer
//   than
//     the 15 characters that Linux allows; with a number after it where the node has given the name to another port.
void plan_ports(std::span<const Node> nodes, std::vector<Cable>& cables);

// The port of node `number` on a switch that all nodes share, the only one in the topology: interface "to-s0", address
// 10.7.0.0/16 + number + 1. Precondition: number < 65535.
Port switch_port(std::uint32_t number);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_SHAPES_PORT_PLAN_H_
