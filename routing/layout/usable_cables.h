// Cables that no path uses have a place in a picture, too: a layout places those in use alone.
#ifndef CABLEWAY_ROUTING_LAYOUT_USABLE_CABLES_H_
#define CABLEWAY_ROUTING_LAYOUT_USABLE_CABLES_H_

#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// The same cables, none of which drains or loses packets.
std::vector<Cable> as_usable(std::span<const Cable> plugged);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_LAYOUT_USABLE_CABLES_H_
