// The latency around a ring of ranks, if those of all its cables are known.
#ifndef CABLEWAY_ROUTING_PLACEMENT_RING_LATENCY_H_
#define CABLEWAY_ROUTING_PLACEMENT_RING_LATENCY_H_

#include <optional>
#include <span>

#include "routing/topology/topology.h"

namespace cableway::routing {

// Summed over the cables of the first flow's path from each node of `order` to the next, and from the last to the
// first, in microseconds. nullopt where the latency of one of them is not known, or two of the nodes have no path to
// each other. Other than PlacementCost, which counts in steps, it is what was measured. Does not include relays.
// O(nodes of the order * (nodes + cables)). Pure. Precondition: all are nodes of `topology`.
std::optional<double> ring_latency_us(const Topology& topology, std::span<const NodeIndex> order);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PLACEMENT_RING_LATENCY_H_
