// A node's events as JSON, for the command line and for scripts. docs/cli.md describes the fields.
#ifndef CABLEWAY_CORE_VIEW_EVENTS_VIEW_H_
#define CABLEWAY_CORE_VIEW_EVENTS_VIEW_H_

#include <nlohmann/json.hpp>
#include <string>

#include "core/node/node.h"

namespace cableway {

std::string events_view(const Node& node);

// An event as in that view; its age is that at `now`.
nlohmann::ordered_json event_json(const Event& event, Instant now);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_EVENTS_VIEW_H_
