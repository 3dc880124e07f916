// What the views show of a neighbour.
#ifndef CABLEWAY_CORE_VIEW_NEIGHBOUR_FACTS_H_
#define CABLEWAY_CORE_VIEW_NEIGHBOUR_FACTS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/node/node.h"

namespace cableway {

// The neighbour's port as advertised; null if it is not known yet.
const routing::AdvertisedPort* neighbour_port(const Node& node, const NeighbourKey& key);

// "up"; "heard"; "unpaired": on a wire whose cables join other ports of the two nodes.
const char* state_text(const Neighbour& neighbour);

// One way, as hellos measure it, in microseconds; null where it is not known, or the neighbour is not up.
nlohmann::ordered_json latency_or_null(const Neighbour& neighbour);

// Of a port that advertises one; a port whose link's rate is not known advertises a default, so that is null.
nlohmann::ordered_json port_rate_or_null(const routing::AdvertisedPort* port);

// The node's neighbours, each with its cable: members as in docs/cli.md, `status`.
nlohmann::ordered_json status_neighbours(const Node& node);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_NEIGHBOUR_FACTS_H_
