// The one source of a node's events: counts them by code, keeps the latest ones, and passes them to the log writer.
//
// Untrusted peers can cause events at any rate. So:
//
//   - each code is rate-limited (a burst of kBurst, then kPerSecond); the others are counted, and reported within a
//     second by one event of that code, whose field "left_out" is their number;
//   - each severity has its own quota; beyond it, the oldest event of the code with the most kept events is evicted, so
//     that no event evicts one of another severity, or one of a code that has fewer;
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

  // Limits of one code. Debug events have higher ones, since a maintainer searches for one among many.
  static constexpr std::uint64_t kBurst = 64;
  static constexpr std::uint64_t kPerSecond = 10;
  static constexpr std::uint64_t kDebugBurst = 1000;
  static constexpr std::uint64_t kDebugPerSecond = 1000;

  // Called for each recorded event, from inside raise(), or later for a count of left-out ones; must not raise.
  using Listener = std::function<void(const Event&)>;

  // `incarnation` identifies this run of the node. The clock must outlive this.
  EventLog(std::uint64_t incarnation, Clock& clock, WallClock wall_clock, Listener listener);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  void raise(EventCode code, std::string text, EventFields fields = {}) override;

  // Reports now what was left out, before the log ends.
  void report_left_out();

  // The kept events, oldest first.
  std::vector<Event> events() const;
  std::size_t size() const;
  // How many events of that code were raised, and how many of those were left out.
  std::uint64_t count(EventCode code) const { return of(code).count; }
  std::uint64_t left_out(EventCode code) const { return of(code).left_out; }
  std::uint64_t incarnation() const { return incarnation_; }

 private:
  struct OfCode {
    std::deque<Event> kept;
    std::uint64_t count = 0;
    std::uint64_t left_out = 0;
    std::uint64_t to_report = 0;  // left out, and not reported yet
    std::unique_ptr<Timer> report;
    Instant paid_until;  // rate limiter: each recorded event advances this by 1 s / rate
  };

  OfCode& of(EventCode code) { return codes_[static_cast<std::size_t>(code)]; }
  const OfCode& of(EventCode code) const { return codes_[static_cast<std::size_t>(code)]; }
  bool take(EventCode code);
  void leave_out(EventCode code);
  void report_left_out(EventCode code);
  void record(EventCode code, const std::string& text, EventFields fields);
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
