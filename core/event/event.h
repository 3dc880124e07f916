// An event of a node.
#ifndef CABLEWAY_CORE_EVENT_EVENT_H_
#define CABLEWAY_CORE_EVENT_EVENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/event/event_code.h"
#include "core/wall_clock.h"

namespace cableway {

// An attribute of an event, for programs: "cable", "port", "neighbour", "path", "reason", ..
struct EventField {
  std::string key;
  std::string value;
  friend bool operator==(const EventField&, const EventField&) = default;
};
using EventFields = std::vector<EventField>;  // in the order in which they are shown

struct Event {
  std::uint64_t number = 0;  // from 1, in the order in which they were raised
  Instant at;
  WallTime time{};
  EventCode code = EventCode::kNodeStarted;
  EventFields fields;
  std::string text;  // one line for people; contains all that the fields do

  EventSeverity severity() const { return kind_of(code).severity; }
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_EVENT_EVENT_H_
