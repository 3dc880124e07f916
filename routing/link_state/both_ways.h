// The test that makes two advertised adjacencies a cable.
#ifndef CABLEWAY_ROUTING_LINK_STATE_BOTH_WAYS_H_
#define CABLEWAY_ROUTING_LINK_STATE_BOTH_WAYS_H_

#include <cstdint>

#include "routing/link_state/advertisement.h"

namespace cableway::routing {

// Null: the node advertises no port of that number.
const AdvertisedPort* find_port(const Advertisement& node, std::uint32_t id);

// The neighbour's half of `adjacency`, which `node` advertises: over the same two ports, both of which are advertised.
// Null: it advertises none. Precondition: `neighbour` is the advertisement of adjacency.neighbour.
const AdvertisedAdjacency* find_answer(const Advertisement& node, const AdvertisedAdjacency& adjacency,
                                       const Advertisement& neighbour);

// Whether the end that advertises `own` has there the address that the other end, which advertises `answer`, has heard
// of. Without this a neighbour could claim any address in its advertisement. Scopes are not compared.
bool has_heard_address(const AdvertisedAdjacency& own, const AdvertisedAdjacency& answer);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LINK_STATE_BOTH_WAYS_H_
