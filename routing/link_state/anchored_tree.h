// The shortest chains from one node over cables that both ends advertise. What no chain reaches is not anchored: nobody
// but itself, or others like it, says that it exists.
#ifndef CABLEWAY_ROUTING_LINK_STATE_ANCHORED_TREE_H_
#define CABLEWAY_ROUTING_LINK_STATE_ANCHORED_TREE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "routing/link_state/advertisement.h"

namespace cableway::routing {

struct AnchoredTree {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<std::uint32_t> parents;  // by place in `nodes`; kNone: the root, or not anchored
  std::vector<std::uint32_t> ports;    // of the parent: that of the cable to this node
  std::vector<std::uint32_t> order;    // the places of all that are anchored, each after its parent, the root first
};

// Breadth first from `root`, one of `nodes`, whose origins differ. Nodes of `last` (by place) are expanded only when no
// other node is left to expand: what is reached both through one and around it belongs to another subtree. O(n log n)
// for n adjacencies, times the adjacencies of one node.
AnchoredTree anchored_tree(std::span<const Advertisement* const> nodes, NodeId root, const std::vector<bool>& last);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_ANCHORED_TREE_H_
