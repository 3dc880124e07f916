// The bundle of a path: paths parallel to it, over other end ports.
#ifndef CABLEWAY_ROUTING_OFFERS_BUNDLE_PATHS_H_
#define CABLEWAY_ROUTING_OFFERS_BUNDLE_PATHS_H_

#include <cstddef>
#include <vector>

#include "routing/paths/cable_parts.h"
#include "routing/paths/path.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

// At most `most` paths over the nodes of `first`. Each leaves the source from another port than `first` and the paths
// before it, and arrives at another port of the destination; in between it may cross the same cables. It leaves through
// the plug or wire of one of those paths only if that path's port (a function of a split plug) is slower than the plug
// and the wire; the same holds for the plug and wire through which it arrives.
//
//        c0, c1: one wire of 200 Gbit/s, two functions of 100    c4: another wire
//     n0 ================================ n1 ------ n2           bundle of n0 -c0- n1: n0 -c1- n1, n0 -c4- n1,
//      `----------------------------------'   c5                 in the order of what they share with c0
//                      c4                                        bundle of n0 -c0- n1 -c5- n2: none
//
// Of several cables between two nodes a path crosses the one of the least latency cost (Topology::latency_cost_ns());
// of these the one that shares the least weight of parts with `first` and the paths before it, then with the last of
// them, then the next one after the cable of `first`. Empty for a path of no cables. O(most^2 * parallel cables *
// hops). Pure. Precondition: `physical` is physical_cables(topology), `parts` is CableParts::find(topology) or null.
std::vector<Path> bundle_paths(const Topology& topology, const PhysicalCables& physical, const CableParts* parts,
                               const Path& first, std::size_t most);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_OFFERS_BUNDLE_PATHS_H_
