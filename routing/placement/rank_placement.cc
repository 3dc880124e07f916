#include "routing/placement/rank_placement.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/paths/path_cost.h"
#include "routing/placement/shortest_ring.h"
#include "routing/text/node_name.h"

namespace cableway::routing {
namespace {

static_assert(kMaxExactlyPlacedNodes == kMaxExactRing);
static_assert(kMaxExactRing * kMaxNodes * static_cast<std::uint64_t>(kMaxLatencyUs * 1000) < kOneRelay);
static_assert(kMaxExactRing * kMaxNodes < (std::uint64_t{1} << (64 - kRingLatencyBits)));

absl::Status check_nodes(const Topology& topology, std::span<const NodeIndex> nodes) {
  if (nodes.empty()) return absl::InvalidArgumentError("no nodes to place; expected at least one");
  if (nodes.size() > kMaxPlacedNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", nodes.size(), " nodes to place; expected at most ", kMaxPlacedNodes));
  }
  std::vector<NodeIndex> sorted(nodes.begin(), nodes.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("node ", in_quotes(topology.node(*twice).name), " is listed twice; expected every node once"));
}

absl::Status no_path(const Topology& topology, NodeIndex from, NodeIndex to) {
  return absl::FailedPreconditionError(absl::StrCat("node ", in_quotes(topology.node(from).name),
                                                    " has no path to node ", in_quotes(topology.node(to).name),
                                                    "; expected nodes that all reach each other"));
}

absl::StatusOr<RingDistances> ring_distances(const Topology& topology, const std::vector<NodeIndex>& nodes) {
  RingDistances distances(nodes.size());
  for (std::size_t from = 0; from < nodes.size(); ++from) {
    const std::vector<PackedCost> cost = costs_from(topology, nodes[from]);
    for (std::size_t to = 0; to < nodes.size(); ++to) {
      if (to == from) continue;
      if (cost[nodes[to].value] == kUnreachable) return no_path(topology, nodes[from], nodes[to]);
      const PathCost path = unpacked(cost[nodes[to].value]);
      distances(from, to) = (path.hops - 1) * kOneRelay + path.latency_ns;
    }
  }
  return distances;
}

// Rotates the ring to start at place 0 and orients it towards the lower of its two neighbours.
void turn(Ring& ring) {
  std::rotate(ring.begin(), std::find(ring.begin(), ring.end(), std::size_t{0}), ring.end());
  if (ring.size() > 2 && ring.back() < ring[1]) std::reverse(ring.begin() + 1, ring.end());
}

}  // namespace

absl::StatusOr<PlacementCost> placement_cost(const Topology& topology, std::span<const NodeIndex> order) {
  if (absl::Status status = check_nodes(topology, order); !status.ok()) return status;
  PlacementCost sum;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const NodeIndex from = order[rank];
    const NodeIndex to = order[(rank + 1) % order.size()];
    if (from == to) continue;
    const PackedCost cost = costs_from(topology, from)[to.value];
    if (cost == kUnreachable) return no_path(topology, from, to);
    sum.relays += unpacked(cost).hops - 1;
    sum.latency_ns += unpacked(cost).latency_ns;
  }
  return sum;
}

absl::StatusOr<RankPlacement> place_ranks(const Topology& topology, std::span<const NodeIndex> nodes) {
  if (absl::Status status = check_nodes(topology, nodes); !status.ok()) return status;
  std::vector<NodeIndex> sorted(nodes.begin(), nodes.end());
  std::sort(sorted.begin(), sorted.end());
  const absl::StatusOr<RingDistances> distances = ring_distances(topology, sorted);
  if (!distances.ok()) return distances.status();

  RankPlacement placement;
  Ring ring(sorted.size());
  std::iota(ring.begin(), ring.end(), std::size_t{0});
  placement.is_best = ring.size() <= 3;  // all orders form the same ring
  if (!placement.is_best) {
    ring = short_ring(*distances);
    placement.is_best = is_provably_shortest(*distances, ring);
  }
  if (!placement.is_best && ring.size() <= kMaxExactRing) {
    ring = shortest_ring(*distances);
    placement.is_best = true;
  }
  turn(ring);
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const RingDistance step = (*distances)(ring[i], ring[(i + 1) % ring.size()]);
    placement.cost.relays += step >> kRingLatencyBits;
    placement.cost.latency_ns += step & (kOneRelay - 1);
    placement.order.push_back(sorted[ring[i]]);
  }
  return placement;
}

}  // namespace cableway::routing
