// What a drain costs, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DRAIN_DRAIN_REPORT_H_
#define CABLEWAY_TOOLS_CABLEWAY_DRAIN_DRAIN_REPORT_H_

#include <optional>
#include <string>

#include "routing/paths/drain_effect.h"
#include "routing/topology/topology.h"
#include "tools/cableway/drain/crossing_circuits.h"
#include "tools/cableway/drain/drain_target.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {

// Compared with the topology without this drain, also where the target drains already.
routing::DrainEffect effect_of(const routing::Topology& topology, const DrainTarget& target);

// One fact a line. `crossing`: nullopt if the target is elsewhere, as only its own node knows them.
std::string drain_effect_text(const routing::Topology& topology, const DrainTarget& target,
                              const routing::DrainEffect& effect, const std::optional<CrossingCircuits>& crossing);

//   lost          [[node, node], ..]: pairs that lose their last path, the first 1,000
//   lost_pairs, longer_pairs  how many
//   longest       {"nodes": [..], "cables_before": .., "cables_after": ..}, or null
//   largest_loss  {"nodes": [..], "before_mbps": .., "after_mbps": ..}, or null
//   circuits, not_listed      as CrossingCircuits, or null
Json drain_effect_json(const routing::Topology& topology, const routing::DrainEffect& effect,
                       const std::optional<CrossingCircuits>& crossing);

// "n0 and n2, n1 and n3, and 7 more pairs".
std::string lost_pairs_text(const routing::Topology& topology, const routing::DrainEffect& effect);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DRAIN_DRAIN_REPORT_H_
