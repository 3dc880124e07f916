// Records raised events for tests.
#ifndef CABLEWAY_TESTS_CORE_EVENT_RECORDED_EVENTS_H_
#define CABLEWAY_TESTS_CORE_EVENT_RECORDED_EVENTS_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/event/event_sink.h"

namespace cableway::test {

class RecordedEvents final : public EventSink {
 public:
  struct Raised {
    EventCode code;
    std::string text;
    EventFields fields;
  };

  void raise(EventCode code, std::string text, EventFields fields = {}) override {
    raised.push_back({code, std::move(text), std::move(fields)});
  }
  std::size_t count(EventCode code) const {
    return static_cast<std::size_t>(
        std::count_if(raised.begin(), raised.end(), [&](const Raised& each) { return each.code == code; }));
  }
  bool has(EventCode code, const std::string& text) const {
    return std::any_of(raised.begin(), raised.end(),
                       [&](const Raised& each) { return each.code == code && each.text == text; });
  }
  std::vector<EventCode> codes() const {
    std::vector<EventCode> codes;
    for (const Raised& each : raised) codes.push_back(each.code);
    return codes;
  }

  std::vector<Raised> raised;
};

// The value of a field; "" if there is none.
inline std::string field_of(const EventFields& fields, const std::string& key) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const EventField& each) { return each.key == key; });
  return found == fields.end() ? "" : found->value;
}

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_EVENT_RECORDED_EVENTS_H_
