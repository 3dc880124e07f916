// The topology as a map shows it: with the cables that are gone, and those that no path uses, each in a place of its
// own beside the others.
#ifndef CABLEWAY_CORE_LIVE_MAP_TOPOLOGY_H_
#define CABLEWAY_CORE_LIVE_MAP_TOPOLOGY_H_

#include <map>
#include <span>
#include <string>

#include "core/live/gone_cables.h"
#include "routing/topology/topology.h"

namespace cableway {

struct MapTopology {
  routing::Topology drawn;  // all of its cables count as usable
  // Of `gone`, those that are in it, by name; empty where both together are more than a topology may have.
  std::map<std::string, const GoneCable*, std::less<>> gone;
};

// Pure. The result points into `gone`.
MapTopology map_topology(const routing::Topology& topology, std::span<const GoneCable> gone);

}  // namespace cableway

#endif  // CABLEWAY_CORE_LIVE_MAP_TOPOLOGY_H_
