// The topology as a map shows it: with the cables that are gone, and those that no path uses, each in a place of its
// own beside the others, and with a box for a switch.
#ifndef CABLEWAY_CORE_LIVE_MAP_TOPOLOGY_H_
#define CABLEWAY_CORE_LIVE_MAP_TOPOLOGY_H_

#include <map>
#include <span>
#include <string>

#include "core/live/gone_cables.h"
#include "routing/layout/switch_boxes.h"
#include "routing/topology/topology.h"

namespace cableway {

struct MapTopology {
  routing::BoxedTopology boxed;  // all cables of boxed.drawn count as usable
  // Of `gone`, those that are in it, by name; empty where both together are more than a topology may have. A port whose
  // cables to all others of a switch are gone has one to the switch, named as the first of them.
  std::map<std::string, const GoneCable*, std::less<>> gone;
};

// A switch of which a cable is gone that joined two of its present ports is not one any more. Pure. The result points
// into `gone`.
MapTopology map_topology(const routing::Topology& topology, std::span<const GoneCable> gone);

}  // namespace cableway

#endif  // CABLEWAY_CORE_LIVE_MAP_TOPOLOGY_H_
