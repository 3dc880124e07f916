// In which order to number a job's nodes, so that those who talk most share cables.
//
// NCCL's rings join rank r to rank r + 1 and the last rank to the first. Where consecutive nodes share a cable, a ring
// needs no relay at all; where such an order does not exist, one with the least relaying is the best there is.
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

// Summed over the shortest paths from each node of an order to the next one, and from the last to the first.
struct PlacementCost {
  std::uint64_t relays = 0;  // 0: all of them share cables
  std::uint64_t latency_ns = 0;
  friend auto operator<=>(const PlacementCost&, const PlacementCost&) = default;
};

struct RankPlacement {
  std::vector<NodeIndex>
      order;  // by rank; starts with the lowest-numbered node, of whose two sides the lower comes next
  PlacementCost cost;
  bool is_best = false;  // proven: no order costs less
  friend bool operator==(const RankPlacement&, const RankPlacement&) = default;
};

// What `order` costs, around to its first node again. InvalidArgument for no nodes, more than kMaxPlacedNodes or a node
// listed twice, FailedPrecondition where two of them have no path to each other; both name the nodes.
// O(nodes of the order * (nodes + cables)). Pure. Precondition: all are nodes of `topology`.
absl::StatusOr<PlacementCost> placement_cost(const Topology& topology, std::span<const NodeIndex> order);

// An order of `nodes`, in whatever order those are given. The other nodes of the topology have no rank and relay.
// Errors and precondition are those of placement_cost().
//
// Best up to kMaxExactlyPlacedNodes nodes (M. Held and R. M. Karp, "A dynamic programming approach to sequencing
// problems", 1962, both halves of the round trip at once): with 24 nodes at most 265 MB, for which two layers of
// subsets are kept, and some 5 * 10^8 steps; each node less halves both. With more nodes, nearest neighbours from
// several starts, improved by 2-opt (G. A. Croes, 1958) and Or-opt (I. Or, 1976) as long as a fixed number of steps
// lasts, which is about a second; a simple bound often proves that to be the best (at any number of nodes, and then it
// is all that is done).
absl::StatusOr<RankPlacement> place_ranks(const Topology& topology, std::span<const NodeIndex> nodes);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PLACEMENT_RANK_PLACEMENT_H_
