// Numbers a job's nodes so that ranks that communicate most share cables.
//
// NCCL's rings join rank r to rank r + 1 and the last rank to the first. If consecutive nodes share a cable, a ring
// needs no relay; if no such order exists, the best order needs the least relaying.
#ifndef CABLEWAY_ROUTING_PLACEMENT_RANK_PLACEMENT_H_
#define CABLEWAY_ROUTING_PLACEMENT_RANK_PLACEMENT_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

inline constexpr std::size_t kMaxExactlyPlacedNodes = 24;
inline constexpr std::size_t kMaxPlacedNodes = 1024;

// Summed over the shortest paths from each node of an order to the next, and from the last to the first.
struct PlacementCost {
  std::uint64_t relays = 0;      // 0: all consecutive nodes share a cable
  std::uint64_t latency_ns = 0;  // as in PathCost
  friend auto operator<=>(const PlacementCost&, const PlacementCost&) = default;
};

struct RankPlacement {
  std::vector<NodeIndex>
      order;  // by rank; starts with the lowest-numbered node, followed by the lower of its two neighbours in the ring
  PlacementCost cost;
  bool is_best = false;  // proven: no order costs less
  friend bool operator==(const RankPlacement&, const RankPlacement&) = default;
};

// The cost of `order`, closed to a ring. InvalidArgument for no nodes, more than kMaxPlacedNodes or a node
// listed twice, FailedPrecondition where two of them have no path to each other; both name the nodes.
// O(nodes of the order * (nodes + cables)). Pure. Precondition: all are nodes of `topology`.
absl::StatusOr<PlacementCost> placement_cost(const Topology& topology, std::span<const NodeIndex> order);

// Orders `nodes`; their order in the argument does not matter. The topology's other nodes have no rank and only relay.
// Errors and precondition are those of placement_cost().
//
// Optimal up to kMaxExactlyPlacedNodes nodes (M. Held and R. M. Karp, "A dynamic programming approach to sequencing
// problems", 1962, searching both halves of the round trip at once): 24 nodes need at most 265 MB, as two layers of
// subsets are held, and some 5 * 10^8 steps; each node less halves both. More nodes use nearest neighbours from several
// starts, improved by 2-opt (G. A. Croes, 1958) and Or-opt (I. Or, 1976) within a fixed number of steps, about a
// second. A simple lower bound often proves a ring optimal; it is tried first at any number of nodes and then ends the
// search.
absl::StatusOr<RankPlacement> place_ranks(const Topology& topology, std::span<const NodeIndex> nodes);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PLACEMENT_RANK_PLACEMENT_H_
