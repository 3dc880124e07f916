// What it would cost to drain a node or a cable: pairs of nodes that lose their last path, longer paths, lost
// bandwidth.
#ifndef CABLEWAY_ROUTING_PATHS_DRAIN_EFFECT_H_
#define CABLEWAY_ROUTING_PATHS_DRAIN_EFFECT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// The same topology in which this node, or the cable of this name, drains or does not.
Topology with_node_draining(const Topology& topology, NodeIndex node, bool draining);
Topology with_cable_draining(const Topology& topology, std::string_view cable, bool draining);

struct AffectedPair {
  NodeIndex a;
  NodeIndex b;
  friend auto operator<=>(const AffectedPair&, const AffectedPair&) = default;
};

// The lengths of a pair's shortest paths.
struct LongerPath {
  AffectedPair pair;
  std::size_t cables_before = 0;
  std::size_t cables_after = 0;
  friend bool operator==(const LongerPath&, const LongerPath&) = default;
};

struct LostBandwidth {
  AffectedPair pair;
  std::uint64_t before_mbps = 0;  // maximum flow, one way
  std::uint64_t after_mbps = 0;
  friend bool operator==(const LostBandwidth&, const LostBandwidth&) = default;
};

struct DrainEffect {
  std::vector<AffectedPair> lost;  // have a path before, and none after; sorted
  std::vector<LongerPath> longer;  // sorted by how many cables are added, most first, then by pair
  // The pair that keeps the smallest part of its maximum flow, the first of several; nullopt: none loses any, or the
  // topology has more than kMaxNodesForFlow nodes.
  std::optional<LostBandwidth> largest_loss;
};

inline constexpr std::size_t kMaxNodesForFlow = 64;

// Both have the same nodes and, together with the unused ones, the same cables. Pure. Takes all pairs of nodes into
// account: some seconds with kMaxNodes.
DrainEffect drain_effect(const Topology& before, const Topology& after);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_DRAIN_EFFECT_H_
