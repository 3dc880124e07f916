// A largest set of paths between two nodes such that one failed cable or connector breaks at most one of them.
#ifndef CABLEWAY_ROUTING_PATHS_DISJOINT_PATHS_H_
#define CABLEWAY_ROUTING_PATHS_DISJOINT_PATHS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "routing/paths/path.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

struct DisjointPath {
  Path path;
  std::uint64_t rate_mbps = 0;  // its share of the set's maximum flow
  friend bool operator==(const DisjointPath&, const DisjointPath&) = default;
};

// A largest set of paths from `source` to `destination` that share no physical cable and no shared connector
// (physical_cable.h). Among the largest sets: the fewest total hops, then the least total latency. Twin cables are one
// wire, so at most one path crosses them, over the one with less latency (then the faster, then the first). A port on a
// switch serves one path: two paths through one switch are disjoint if they use different ports of it. The switch
// itself is not in the topology, so its failure is not considered.
// Since nothing else is shared, each path carries the rate of its slowest cable, and the sum of the rates is the
// maximum flow of the set; that of the pair (max_flow.h) may be larger. Roots are the exception: a wire does not fail
// with a root, so disjoint paths may share roots, and then carry less together (two wires between two DGX Sparks).
// Sorted by PathCost, then by cables as seen from the lower-numbered node. Both directions give the same paths,
// reversed, in the same order. No path crosses a draining node. Empty from a node to itself.
//
// Successive shortest augmenting paths (R. G. Busacker and P. J. Gowen, 1960; for two paths: J. W. Suurballe, "Disjoint
// paths in a network", 1974) in the network of nodes, connectors and physical cables. O(paths * nodes * cables) in the
// worst case, in practice O(paths * (nodes + cables)). Pure. Precondition: both are nodes of `topology`.
std::vector<DisjointPath> disjoint_paths(const Topology& topology, NodeIndex source, NodeIndex destination);

// At most `most` such paths, those that cost the least in total: for nodes of hundreds of cables. `physical` is
// physical_cables(topology).
std::vector<DisjointPath> disjoint_paths(const Topology& topology, const PhysicalCables& physical, NodeIndex source,
                                         NodeIndex destination, std::size_t most);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_DISJOINT_PATHS_H_
