// What an advertisement costs a node that holds it: memory, and time for routes.
#ifndef CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_WEIGHT_H_
#define CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_WEIGHT_H_

#include <algorithm>
#include <cstddef>

#include "routing/link_state/advertisement.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// In units of one port with its adjacency. Every node has as many as a node of a torus of three dimensions needs, so
// that the units bound the number of nodes, too.
inline constexpr std::size_t kLeastWeight = 8;
// That of a whole database: kMaxNodes nodes of 7 adjacencies, or a full mesh of 181. Twice as much takes a node 90 MB,
// and half a second of a busy core for a topology.
inline constexpr std::size_t kMaxWeight = kMaxNodes * kLeastWeight;
// Each cable takes a unit at both ends.
static_assert(kMaxWeight / 2 <= kMaxCables);

inline std::size_t weight_of(const Advertisement& advertisement) {
  return std::max(kLeastWeight, 1 + std::max(advertisement.ports.size(), advertisement.adjacencies.size()));
}

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_ADVERTISEMENT_WEIGHT_H_
