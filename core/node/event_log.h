// The last things that happened to a node, for people who come afterwards. Bounded; one thread.
#ifndef CABLEWAY_CORE_NODE_EVENT_LOG_H_
#define CABLEWAY_CORE_NODE_EVENT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "core/clock.h"

namespace cableway {

struct Event {
  std::uint64_t number = 0;  // from 1, without gaps: what is missing was pushed out by later ones
  Instant at;
  std::string text;
};

class EventLog {
 public:
  static constexpr std::size_t kKept = 1000;

  // `life` tells this log from that of the node's next start.
  explicit EventLog(std::uint64_t life) : life_(life) {}

  const Event& add(Instant at, std::string text) {
    events_.push_back(Event{++last_, at, std::move(text)});
    if (events_.size() > kKept) events_.pop_front();
    return events_.back();
  }
  const std::deque<Event>& events() const { return events_; }  // oldest first
  std::uint64_t life() const { return life_; }

 private:
  const std::uint64_t life_;
  std::deque<Event> events_;
  std::uint64_t last_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_EVENT_LOG_H_
