// The maximum flow over cables as a linear program, not as a flow network: one variable for each cable and direction,
// bounded by every part that the cable shares. For small topologies.
#ifndef CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_MAX_FLOW_H_
#define CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_MAX_FLOW_H_

#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// In Mbit/s, up to rounding. `physical` is physical_cables(topology).
double naive_max_flow_mbps(const Topology& topology, const PhysicalCables& physical, NodeIndex from, NodeIndex to);

}  // namespace cableway::routing

#endif  // CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_MAX_FLOW_H_
