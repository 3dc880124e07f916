// What a node reports of connections that bring no valid set-up (idle_rate.h): the event CONNECTIONS_FLOODED, and a
// problem for as long as an operator should know.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_ARRIVALS_FLOOD_NOTES_H_
#define CABLEWAY_CORE_ARRIVALS_FLOOD_NOTES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/arrivals/idle_rate.h"
#include "core/clock.h"
#include "core/event/event_sink.h"

namespace cableway {

class FloodNotes {
 public:
  static constexpr std::chrono::seconds kEvery{10};  // at most one event in this time
  static constexpr std::chrono::seconds kLasts{60};  // how long a problem is reported after it was last seen

  // Both outlive it. `tcp_port` is the listener's.
  FloodNotes(Clock& clock, EventSink& events, std::uint16_t tcp_port)
      : clock_(clock), events_(events), tcp_port_(tcp_port) {}

  // `interface`: the port that has the listener's address; empty: none has it any more.
  void note(const IdleRate::From& from, std::size_t per_second, const std::string& interface);
  // Empty: there is none.
  std::string problem() const;

 private:
  Clock& clock_;
  EventSink& events_;
  const std::uint16_t tcp_port_;
  std::string text_;
  Instant seen_;
  std::optional<Instant> raised_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_ARRIVALS_FLOOD_NOTES_H_
