// The costs of the shortest paths from one node to all others.
#ifndef CABLEWAY_ROUTING_PATHS_PATH_COST_H_
#define CABLEWAY_ROUTING_PATHS_PATH_COST_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "routing/paths/path.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// A PathCost as one integer, so that comparing or adding costs is one instruction: hops in the high bits, ns in the
// low. A path has fewer than 2^12 hops of at most 10^9 ns each, so the lower part never carries into the upper one.
using PackedCost = std::uint64_t;
inline constexpr int kPackedLatencyBits = 48;
inline constexpr PackedCost kPackedHop = PackedCost{1} << kPackedLatencyBits;
inline constexpr PackedCost kUnreachable = std::numeric_limits<PackedCost>::max();
static_assert(kMaxNodes * static_cast<std::uint64_t>(kMaxLatencyUs * 1000) < kPackedHop);
static_assert(kMaxNodes < (std::uint64_t{1} << (63 - kPackedLatencyBits)));

inline PackedCost packed_cost(const Topology& topology, CableIndex cable) {
  return kPackedHop + topology.latency_cost_ns(cable);
}

// Precondition: packed != kUnreachable.
inline PathCost unpacked(PackedCost packed) {
  return {.hops = static_cast<std::uint32_t>(packed >> kPackedLatencyBits), .latency_ns = packed & (kPackedHop - 1)};
}

PathCost cost_of(const Topology& topology, const Path& path);

// Whether paths from `source` may leave `node`: it is not draining, or it is the source.
inline bool may_leave(const Topology& topology, NodeIndex source, NodeIndex node) {
  return node == source || !topology.node(node).draining;
}

// Indexed by node; kUnreachable where no path exists. No path crosses a draining node or touches a `closed` node
// (indexed by node; empty: no node is closed). Hops rank before latency, so a breadth-first search (E. F. Moore, "The
// shortest path through a maze", 1959) that picks the least latency of each level gives Dijkstra's result without a
// queue: O(nodes + cables). Precondition: `source` is a node of `topology` that is not closed.
std::vector<PackedCost> costs_from(const Topology& topology, NodeIndex source, const std::vector<bool>& closed = {});

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_PATH_COST_H_
