// `cableway events`: what happened to the node here, oldest first, for people and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_EVENTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_EVENTS_H_

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/event/event_code.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

// Which events are shown.
struct EventFilter {
  EventSeverity least = EventSeverity::kInfo;
  std::vector<std::string> codes = {};  // names; none: all
};

std::unique_ptr<Verb> events_verb();

// Of what the node answered (core/view/events_view.h). InvalidArgument: that are no events.
absl::StatusOr<std::string> events_text(const std::string& answer, const EventFilter& filter);
// The answer, with the events that the filter lets through.
absl::StatusOr<std::string> events_json(const std::string& answer, const EventFilter& filter);

struct EventTail {
  bool json = false;  // one JSON object a line
  EventFilter filter;
  // Asks the node; its errors end the tail.
  std::function<absl::StatusOr<std::string>()> ask;
  std::function<void()> pause;  // between two questions
};

// Writes the events there are, then those that come, until the node cannot be asked any more or `out` fails; returns
// why. Says where events were lost, whatever the filter, and where a node of a new incarnation answers.
absl::Status follow_events(const EventTail& tail, std::ostream& out);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_EVENTS_H_
