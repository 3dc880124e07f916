// The topology with a place for every node, for a page that draws it.
#ifndef CABLEWAY_CORE_LIVE_MAP_JSON_H_
#define CABLEWAY_CORE_LIVE_MAP_JSON_H_

#include <cstddef>
#include <span>
#include <string>

#include "core/live/gone_cables.h"
#include "routing/topology/topology.h"

namespace cableway {

// Larger topologies are not drawn: nodes and cables are null.
inline constexpr std::size_t kMaxMapNodes = 256;
inline constexpr std::size_t kMaxMapCables = 1024;

bool can_be_drawn(const routing::Topology& topology);

// `own`: the name of the node that answers. Of `gone`, those between nodes of the topology are drawn in the places that
// they had: a ring stays a ring when one of its cables is cut. docs/metrics.md describes the members.
std::string map_json(const routing::Topology& topology, const std::string& own, std::span<const GoneCable> gone = {});

}  // namespace cableway

#endif  // CABLEWAY_CORE_LIVE_MAP_JSON_H_
