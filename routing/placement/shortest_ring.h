// The shortest round trip through all nodes of a job (travelling salesman): exact and heuristic solvers.
#ifndef CABLEWAY_ROUTING_PLACEMENT_SHORTEST_RING_H_
#define CABLEWAY_ROUTING_PLACEMENT_SHORTEST_RING_H_

#include <cstddef>
#include <vector>

#include "routing/placement/ring_distances.h"

namespace cableway::routing {

using Ring = std::vector<std::size_t>;  // each place once; around to the first again

inline constexpr std::size_t kMaxExactRing = 24;

// A shortest ring, by dynamic programming over subsets (see rank_placement.h). Precondition: 4 to kMaxExactRing nodes.
Ring shortest_ring(const RingDistances& distances);

// Whether a simple lower bound proves the ring shortest: every node is next to its two nearest nodes, by distance.
// False proves nothing. Precondition: at least 3 nodes.
bool is_provably_shortest(const RingDistances& distances, const Ring& ring);

// A short ring, found in a bounded number of steps; stops early at one that is provably shortest.
// Precondition: at least 3 nodes.
Ring short_ring(const RingDistances& distances);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PLACEMENT_SHORTEST_RING_H_
