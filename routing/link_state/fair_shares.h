// Which of too many nodes a node holds, so that a crowd that one of them invents displaces no other.
#ifndef CABLEWAY_ROUTING_LINK_STATE_FAIR_SHARES_H_
#define CABLEWAY_ROUTING_LINK_STATE_FAIR_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "routing/link_state/advertisement.h"

namespace cableway::routing {

struct FairShares {
  std::vector<bool> anchored;  // by place in `nodes` (anchored_tree.h)
  std::vector<bool> kept;      // likewise; only such as are anchored
  std::size_t weight = 0;      // of those kept
  std::size_t left_out = 0;    // anchored, but not kept
  // The places from the node itself to the last one whose subtree has most of what is too much; empty: nothing is left
  // out.
  std::vector<std::uint32_t> crowd;
};

// Keeps nodes with a total weight_of() of at most `capacity`: all anchored ones if they fit. Otherwise what a node has
// is split, after its own weight, among its ports, and that of a port among its child nodes, each max-min fair by the
// weight of its subtree (D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2): who asks for less than an
// equal share gets it all. So however many nodes one invents, they share what its own place in the tree is worth. Where
// equal shares are too small for a node, those first in `nodes` get one: list first what is held longest, and nothing
// changes for those that wait.
//
// A node whose share is too small for its subtree is expanded last: a node that is also reachable by a chain around it
// then belongs to another subtree. `self`: the origin of one of `nodes`; its weight must not exceed `capacity`.
FairShares fair_shares(std::span<const Advertisement* const> nodes, NodeId self, std::size_t capacity);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_FAIR_SHARES_H_
