// `cableway events`: what happened to the node here, oldest first, for people and as JSON.
#ifndef CABLEWAY_TOOLS_CABLEWAY_VERBS_EVENTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_VERBS_EVENTS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/cableway/verbs/verb.h"

namespace cableway::cli {

std::unique_ptr<Verb> events_verb();

// Of what the node answered (core/view/events_view.h). InvalidArgument: that are no events.
absl::StatusOr<std::string> events_text(const std::string& answer);

struct EventTail {
  bool json = false;  // one JSON object a line
  // Asks the node; its errors end the tail.
  std::function<absl::StatusOr<std::string>()> ask;
  std::function<void()> pause;  // between two questions
};

// Writes the events there are, then those that come, until the node cannot be asked any more or `out` fails; returns
// why. Says where events were lost, and where a node of a new life answers.
absl::Status follow_events(const EventTail& tail, std::ostream& out);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_VERBS_EVENTS_H_
