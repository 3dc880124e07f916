// Small random topologies of hosts with plugs and PCIe roots.
#ifndef CABLEWAY_TESTS_ROUTING_PATHS_RANDOM_HOSTS_H_
#define CABLEWAY_TESTS_ROUTING_PATHS_RANDOM_HOSTS_H_

#include <random>

#include "routing/topology/topology.h"

namespace cableway::routing {

// Three to five nodes on a ring with chords, each with up to two plugs and two roots; some cables are twins of one
// wire, some plugs end several wires, and some topologies have a switch segment.
Topology random_hosts(std::mt19937& random);

}  // namespace cableway::routing

#endif  // CABLEWAY_TESTS_ROUTING_PATHS_RANDOM_HOSTS_H_
