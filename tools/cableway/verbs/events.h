// `cableway events`: the events of the node here, oldest first, as text and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_EVENTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_EVENTS_H_

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/event/event_code.h"
#include "tools/cableway/node/topology_look.h"
#include "tools/cableway/text/json.h"
#include "tools/cableway/text/look.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

// Which events are shown.
struct EventFilter {
  EventSeverity least = EventSeverity::kInfo;
  std::vector<std::string> codes = {};  // names; empty: all
};

std::unique_ptr<Verb> events_verb();

// Parses the node's answer (core/view/events_view.h). InvalidArgument: it is not an events view.
absl::StatusOr<std::string> events_text(const std::string& answer, const EventFilter& filter, const Look& look = {});
// The answer, with only the events that pass the filter.
absl::StatusOr<std::string> events_json(const std::string& answer, const EventFilter& filter);

// Of events as that view lists them, oldest first, with local times; `heading` is that of their texts.
std::string events_table(const Json& events, const std::string& heading, const Look& look);

struct EventTail {
  bool json = false;  // one JSON object per line
  EventFilter filter;
  // Queries the node; its errors end the tail.
  std::function<absl::StatusOr<std::string>()> ask;
  std::function<void()> pause;  // between two queries
  // How the next events look, asked for where there are any; without it, plain.
  std::function<std::unique_ptr<const TopologyLook>()> look = nullptr;
};

// Writes the existing events, then new ones, until the node cannot be queried or `out` fails; returns why. Notes lost
// events, whatever the filter, and a new incarnation of the node.
absl::Status follow_events(const EventTail& tail, std::ostream& out);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_EVENTS_H_
