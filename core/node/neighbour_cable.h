// The cable to a neighbour.
#ifndef CABLEWAY_CORE_NODE_NEIGHBOUR_CABLE_H_
#define CABLEWAY_CORE_NODE_NEIGHBOUR_CABLE_H_

#include <string>

#include "core/discovery/neighbour.h"
#include "routing/topology/cable_name.h"

namespace cableway {

// Its name in the topology, and in hops. `own_name`: this node's.
inline std::string cable_name(const std::string& own_name, const Neighbour& neighbour) {
  return routing::discovered_cable_name(own_name, neighbour.our_interface, neighbour.name, neighbour.interface);
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_NEIGHBOUR_CABLE_H_
