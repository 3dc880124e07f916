// The topology with a place for every node, for a page that draws it.
#ifndef CABLEWAY_CORE_LIVE_MAP_JSON_H_
#define CABLEWAY_CORE_LIVE_MAP_JSON_H_

#include <cstddef>
#include <string>

#include "routing/topology/topology.h"

namespace cableway {

// Larger topologies are not drawn: nodes and cables are null.
inline constexpr std::size_t kMaxMapNodes = 256;
inline constexpr std::size_t kMaxMapCables = 1024;

// `own`: the name of the node that answers. docs/metrics.md describes the members.
std::string map_json(const routing::Topology& topology, const std::string& own);

}  // namespace cableway

#endif  // CABLEWAY_CORE_LIVE_MAP_JSON_H_
