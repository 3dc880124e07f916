// The largest duration of the last 10 to 20 seconds.
#ifndef CABLEWAY_CORE_PULSE_RECENT_MAXIMUM_H_
#define CABLEWAY_CORE_PULSE_RECENT_MAXIMUM_H_

#include <algorithm>
#include <chrono>

#include "core/clock.h"

namespace cableway {

// The minimum time for which a value counts; the maximum is twice this time.
inline constexpr std::chrono::seconds kRecentWindow{10};

// For values that are not less than Value{}. One thread.
template <typename Value>
class RecentMaximum {
 public:
  void add(Value value, Instant now) {
    turn(now);
    current_ = std::max(current_, value);
  }
  Value get(Instant now) {
    turn(now);
    return std::max(current_, previous_);
  }

 private:
  void turn(Instant now) {
    if (now - since_ < kRecentWindow) return;
    previous_ = now - since_ < 2 * kRecentWindow ? current_ : Value{};
    current_ = Value{};
    since_ = now;
  }

  Instant since_;
  Value current_{};
  Value previous_{};
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PULSE_RECENT_MAXIMUM_H_
