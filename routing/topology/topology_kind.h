// Classifies a topology by its shape. Parallel cables count as one.
#ifndef CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_KIND_H_
#define CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_KIND_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

enum class TopologyKind {
  kSingleNode,
  kLine,      // also any two nodes with a cable
  kFullMesh,  // every two nodes share a cable; also the triangle
  kRing,      // four nodes or more
  kStar,      // one hub, three leaves or more
  kTree,
  kTorus,    // a grid of at least 3 x 3 whose rows and columns are rings; recognised up to kMaxTorusNodes
  kPartial,  // connected, and none of the above
  kDisconnected,
};

inline constexpr std::size_t kMaxTorusNodes = 64;

struct TopologyShape {
  TopologyKind kind = TopologyKind::kPartial;
  // Line: from end to end. Ring and triangle: around. Torus: row by row. Star and tree: the root first, then the rest.
  // Other kinds: by index. Starts at the lowest-numbered node possible and continues to the lowest-numbered neighbour.
  std::vector<NodeIndex> order;
  std::size_t rows = 0;     // of a torus; rows <= columns
  std::size_t columns = 0;  // of a torus
};

// Pure. O(nodes * cables), and a bounded search for the torus.
TopologyShape recognise_shape(const Topology& topology);

// "full mesh", "ring", ..
std::string_view kind_name(TopologyKind kind);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_TOPOLOGY_TOPOLOGY_KIND_H_
