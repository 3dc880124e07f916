// The capacity between two nodes if all cables carried their traffic alone.
#ifndef CABLEWAY_ROUTING_PATHS_MAX_FLOW_H_
#define CABLEWAY_ROUTING_PATHS_MAX_FLOW_H_

#include <cstdint>

#include "routing/topology/topology.h"

namespace cableway::routing {

// In Mbit/s, from `source` to `destination`; symmetric. Joint capacities hold (physical_cable.h): of cables that are
// one wire, that share a connector, or a root. An upper bound where the functions of one plug have different roots and
// the plug is slower than they are together; exact elsewhere (capacity_arcs.h). Draining nodes relay nothing. 0 if the
// destination is unreachable, and from a node to itself.
//
// A. V. Goldberg and R. E. Tarjan, "A new approach to the maximum-flow problem", 1988 (push and relabel), from
// Boost.Graph. Pure. Precondition: both are nodes of `topology`.
std::uint64_t max_flow_mbps(const Topology& topology, NodeIndex source, NodeIndex destination);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_MAX_FLOW_H_
