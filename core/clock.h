// A monotonic clock and its timers. core/linux/os/asio_clock.h is the real one; the simulator's skips the time in which
// nothing is due.
#ifndef CABLEWAY_CORE_CLOCK_H_
#define CABLEWAY_CORE_CLOCK_H_

#include <chrono>
#include <functional>
#include <memory>

namespace cableway {

using Duration = std::chrono::nanoseconds;

// A point in time of one node's clock. Instants of different nodes cannot be compared.
struct Instant {
  Duration since_start{0};
  friend auto operator<=>(const Instant&, const Instant&) = default;
  friend Instant operator+(Instant at, Duration later) { return Instant{at.since_start + later}; }
  friend Duration operator-(Instant to, Instant from) { return to.since_start - from.since_start; }
};

// A pending call. Destroying it cancels the call, also from inside another call.
class Timer {
 public:
  Timer() = default;
  virtual ~Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
};

class Clock {
 public:
  virtual ~Clock() = default;

  virtual Instant now() const = 0;
  // Calls `work` once, at `when` or soon after, on the thread that owns the clock, never from inside this call. Calls
  // run in the order of their times; calls for the same time run in the order in which they were scheduled. A call may
  // destroy its own timer.
  [[nodiscard]] virtual std::unique_ptr<Timer> call_at(Instant when, std::function<void()> work) = 0;

  [[nodiscard]] std::unique_ptr<Timer> call_after(Duration delay, std::function<void()> work) {
    return call_at(now() + delay, std::move(work));
  }
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CLOCK_H_
