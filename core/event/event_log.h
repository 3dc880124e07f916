// The one source of a node's events: it counts them by code, keeps the last ones, and gives them to whoever writes the
// log.
//
// Peers that need not be trusted cause many of them, as often as they like. So:
//
//   - of each code only so many are taken (kBurst at once, then kPerSecond); the rest is counted, and said in one event
//     of that code within a second, whose field "left_out" is the number;
//   - of each severity a number of its own is kept, and of those the code that has the most gives way: no event pushes
//     out one of another severity, nor one of a code that has fewer;
//   - texts and fields are printable ASCII and of bounded length.
//
// One thread: the clock's.
#ifndef CABLEWAY_CORE_EVENT_EVENT_LOG_H_
#define CABLEWAY_CORE_EVENT_EVENT_LOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/event/event_sink.h"

namespace cableway {

class EventLog final : public EventSink {
 public:
  // By severity, from debug to error.
  static constexpr std::array<std::size_t, kEventSeverities> kKeptOfSeverity{200, 400, 300, 100};
  static constexpr std::size_t kKept = 1000;  // altogether
  static constexpr std::size_t kMaxTextBytes = 2048;
  static constexpr std::size_t kMaxFields = 8;
  static constexpr std::size_t kMaxFieldBytes = 256;

  // Of one code. Debug events are for maintainers, who look for one among many.
  static constexpr std::uint64_t kBurst = 64;
  static constexpr std::uint64_t kPerSecond = 10;
  static constexpr std::uint64_t kDebugBurst = 1000;
  static constexpr std::uint64_t kDebugPerSecond = 1000;

  // Called for each event that is taken, from inside raise(); must not raise.
  using Listener = std::function<void(const Event&)>;

  // `incarnation` tells this log from that of the node's next start. The clock outlives this.
  EventLog(std::uint64_t incarnation, Clock& clock, WallClock wall_clock, Listener listener);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  void raise(EventCode code, std::string text, EventFields fields = {}) override;

  // Those that are kept, oldest first.
  std::vector<Event> events() const;
  std::size_t size() const;
  // How many of that code were raised, and how many of those were not taken.
  std::uint64_t count(EventCode code) const { return of(code).count; }
  std::uint64_t left_out(EventCode code) const { return of(code).left_out; }
  std::uint64_t incarnation() const { return incarnation_; }

 private:
  struct OfCode {
    std::deque<Event> kept;
    std::uint64_t count = 0;
    std::uint64_t left_out = 0;
    std::uint64_t to_report = 0;  // of those that were left out
    std::unique_ptr<Timer> report;
    Instant paid_until;  // each event that is taken pays for a part of a second
  };

  OfCode& of(EventCode code) { return codes_[static_cast<std::size_t>(code)]; }
  const OfCode& of(EventCode code) const { return codes_[static_cast<std::size_t>(code)]; }
  bool take(EventCode code);
  void leave_out(EventCode code);
  void report_left_out(EventCode code);
  void record(EventCode code, std::string text, EventFields fields);
  void make_room(EventSeverity severity);

  const std::uint64_t incarnation_;
  Clock& clock_;
  const WallClock wall_clock_;
  const Listener listener_;
  std::array<OfCode, kEventCodes> codes_;
  std::array<std::size_t, kEventSeverities> kept_{};
  std::uint64_t last_ = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_EVENT_EVENT_LOG_H_
