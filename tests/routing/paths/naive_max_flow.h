// The maximum flow over cables as a linear program, without a network in between: each cable has its own flow each way,
// and shares of all that limits it. For small topologies.
#ifndef CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_MAX_FLOW_H_
#define CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_MAX_FLOW_H_

#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// In Mbit/s, up to rounding. `physical` is physical_cables(topology).
double naive_max_flow_mbps(const Topology& topology, const PhysicalCables& physical, NodeIndex from, NodeIndex to);

}  // namespace cableway::routing

#endif  // CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_MAX_FLOW_H_
