// Time as the node knows it: a clock that never goes back, and timers on it. The real one is
// core/linux/os/asio_clock.h; the simulator's runs as fast as there is nothing to do.
#ifndef CABLEWAY_CORE_CLOCK_H_
#define CABLEWAY_CORE_CLOCK_H_

#include <chrono>
#include <functional>
#include <memory>

namespace cableway {

using Duration = std::chrono::nanoseconds;

// A moment of one node's clock. Moments of different nodes cannot be compared.
struct Instant {
  Duration since_start{0};
  friend auto operator<=>(const Instant&, const Instant&) = default;
  friend Instant operator+(Instant at, Duration later) { return Instant{at.since_start + later}; }
  friend Duration operator-(Instant to, Instant from) { return to.since_start - from.since_start; }
};

// A call that is to come. Dropping it prevents the call, also from inside another call.
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
  // come in the order of their moments, those of one moment in the order in which they were asked for. A call may drop
  // its own timer.
  [[nodiscard]] virtual std::unique_ptr<Timer> call_at(Instant when, std::function<void()> work) = 0;

  [[nodiscard]] std::unique_ptr<Timer> call_after(Duration delay, std::function<void()> work) {
    return call_at(now() + delay, std::move(work));
  }
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_CLOCK_H_
