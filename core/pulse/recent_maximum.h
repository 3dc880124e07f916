// The largest duration of the last 10 to 20 seconds.
#ifndef CABLEWAY_CORE_PULSE_RECENT_MAXIMUM_H_
#define CABLEWAY_CORE_PULSE_RECENT_MAXIMUM_H_

#include <algorithm>
#include <chrono>

#include "core/clock.h"

namespace cableway {

// A value counts for at least kWindow and at most twice that. One thread.
class RecentMaximum {
 public:
  static constexpr std::chrono::seconds kWindow{10};

  void add(Duration value, Instant now) {
    turn(now);
    current_ = std::max(current_, value);
  }
  Duration get(Instant now) {
    turn(now);
    return std::max(current_, previous_);
  }

 private:
  void turn(Instant now) {
    if (now - since_ < kWindow) return;
    previous_ = now - since_ < 2 * kWindow ? current_ : Duration{0};
    current_ = Duration{0};
    since_ = now;
  }

  Instant since_;
  Duration current_{0};
  Duration previous_{0};
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PULSE_RECENT_MAXIMUM_H_
