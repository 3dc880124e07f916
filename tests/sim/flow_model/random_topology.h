// Connected random topologies with everything that affects flows: cables of several rates and latencies, parallel ones,
// twins of one wire, sometimes a switch segment, sometimes PCIe roots, sometimes a draining node.
#ifndef CABLEWAY_TESTS_SIM_FLOW_MODEL_RANDOM_TOPOLOGY_H_
#define CABLEWAY_TESTS_SIM_FLOW_MODEL_RANDOM_TOPOLOGY_H_

#include <cstdint>
#include <random>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::sim {

// Nodes n0, n1, .. Only the last one may be draining, and the others are connected without it, so all nodes reach each
// other.
routing::Topology random_topology(std::mt19937& random, std::uint32_t nodes);

// All nodes, in their order.
std::vector<routing::NodeIndex> all_nodes(const routing::Topology& topology);

}  // namespace cableway::sim

#endif  // CABLEWAY_TESTS_SIM_FLOW_MODEL_RANDOM_TOPOLOGY_H_
