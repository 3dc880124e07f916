// Measures whether a relay's thread has time left for alternates. On a busy relay, detours take processor time from
// flows on their own paths, so one flow gains what another loses.
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
  // The minimum length of a measurement.
  static constexpr std::chrono::milliseconds kWindow{20};
  // The maximum share of the time that the thread may spend running or waiting for a processor. A thread that is busy
  // half of the time cannot spare the other half, since chunks do not arrive evenly.
  static constexpr double kMost = 0.5;

  // A look for work is no work, nor is the call that lets other threads run. If one of them takes longer, the thread
  // has waited for a processor, which counts.
  static constexpr std::chrono::microseconds kLongestLook{50};
  static constexpr std::chrono::microseconds kLongestYield{5};

  // The thread has looked for work without finding any, and has then let other threads run.
  void looked_in_vain(Duration look, Duration yield) {
    in_vain_ += std::min<Duration>(look, kLongestLook) + std::min<Duration>(yield, kLongestYield);
  }
  bool is_due(Instant now) const { return now >= measured_at_ + kWindow; }
  // `spent`: the time that the thread has spent running or waiting for a processor, since any fixed moment.
  void measure(Instant now, Duration spent) {
    const Duration worked = spent - spent_ - std::exchange(in_vain_, Duration{0});
    const auto share = static_cast<double>(worked.count()) / static_cast<double>((now - measured_at_).count());
    if (is_measured_ && share > kMost) busy_until_ = now + 2 * Duration(kWindow);
    is_measured_ = true;
    measured_at_ = now;
    spent_ = spent;
  }
  // In the past: the thread has time for alternates.
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
