// Whether a relay's thread has time left for alternates. Where it has not, a detour takes the processor from flows on
// their own paths, and what one flow gains another one loses.
//
// One thread. Neither blocks nor allocates.
#ifndef CABLEWAY_CORE_GATE_RELAY_LOAD_H_
#define CABLEWAY_CORE_GATE_RELAY_LOAD_H_

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/clock.h"

namespace cableway {

class RelayLoad {
 public:
  // The length of a measurement, at least.
  static constexpr std::chrono::milliseconds kWindow{20};
  // The share of it that the thread may spend on a processor and waiting for one. A thread that is busy for half of the
  // time has not the other half to spare: chunks do not arrive evenly.
  static constexpr double kMost = 0.5;

  // A look for work is no work. One that takes longer has waited for a processor, which counts.
  static constexpr std::chrono::microseconds kLongestLook{20};

  // The thread has looked for work for this long, and found none.
  void looked_in_vain(Duration time) { in_vain_ += std::min<Duration>(time, kLongestLook); }
  bool is_due(Instant now) const { return now >= measured_at_ + kWindow; }
  // `spent`: the thread's time on a processor and waiting for one, since any fixed moment.
  void measure(Instant now, Duration spent) {
    const Duration worked = spent - spent_ - std::exchange(in_vain_, Duration{0});
    const auto share = static_cast<double>(worked.count()) / static_cast<double>((now - measured_at_).count());
    if (is_measured_ && share > kMost) busy_until_ = now + 2 * Duration(kWindow);
    is_measured_ = true;
    measured_at_ = now;
    spent_ = spent;
  }
  // Past: it has time.
  Instant busy_until() const { return busy_until_; }

 private:
  bool is_measured_ = false;
  Instant measured_at_;
  Duration spent_{0};
  Duration in_vain_{0};  // since then
  Instant busy_until_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_GATE_RELAY_LOAD_H_
