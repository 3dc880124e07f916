// Receives a node's events.
#ifndef CABLEWAY_CORE_EVENT_EVENT_SINK_H_
#define CABLEWAY_CORE_EVENT_EVENT_SINK_H_

#include <string>

#include "core/event/event.h"

namespace cableway {

// One thread: the node's.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // `text`: one line for people. Texts and fields may hold any bytes and have any length, since peers supply parts of
  // them.
  virtual void raise(EventCode code, std::string text, EventFields fields = {}) = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_EVENT_EVENT_SINK_H_
