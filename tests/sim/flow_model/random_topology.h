// Connected topologies with everything that makes a difference to flows: cables of several rates and latencies,
// parallel ones, twins of one wire, a switch segment now and then, a draining node now and then.
#ifndef CABLEWAY_TESTS_SIM_FLOW_MODEL_RANDOM_TOPOLOGY_H_
#define CABLEWAY_TESTS_SIM_FLOW_MODEL_RANDOM_TOPOLOGY_H_

#include <cstdint>
#include <random>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::sim {

// Of the nodes n0, n1, .. at most the last one drains, without which the others are connected still: so all reach each
// other.
routing::Topology random_topology(std::mt19937& random, std::uint32_t nodes);

// All nodes, in their order.
std::vector<routing::NodeIndex> all_nodes(const routing::Topology& topology);

}  // namespace cableway::sim

#endif  // CABLEWAY_TESTS_SIM_FLOW_MODEL_RANDOM_TOPOLOGY_H_
