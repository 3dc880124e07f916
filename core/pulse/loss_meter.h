// How many of a neighbour's pulses are lost on a cable, and whether that is too many. Pulses of one cable are numbered
// without gaps, so those that do not arrive are known; those that were never sent do not count.
//
// A cable that loses one packet in twenty works for hellos and pulses, and ruins what uses it: TCP sends at a fraction
// of the rate, RDMA begins again from the lost packet.
//
// One thread.
#ifndef CABLEWAY_CORE_PULSE_LOSS_METER_H_
#define CABLEWAY_CORE_PULSE_LOSS_METER_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/clock.h"

namespace cableway {

class LossMeter {
 public:
  // A judgement for each so many pulses, 10 s of them: of a cable that loses 5 %, 50 with a standard deviation of 7.
  static constexpr std::uint64_t kWindow = 1000;
  // Lossy from so many percent of a window on; good again once windows have had fewer than kGoodPercent for a time.
  // Random loss of 0.8 % is not found lossy in a century, of 1 % about once in two years, of 5 % in nearly every
  // window.
  static constexpr unsigned kLossyPercent = 3;
  static constexpr unsigned kGoodPercent = 1;
  // That time, doubled each time that the cable is lossy again within kForgiven: a cable that loses packets only while
  // it is used would change between both for ever.
  static constexpr std::chrono::seconds kFirstProof{60};
  static constexpr std::chrono::seconds kLongestProof{3600};
  static constexpr std::chrono::hours kForgiven{1};

  // A new pulse with that number has arrived.
  void heard(std::uint64_t number, Instant arrival);
  // What was lost until now was not lost at random: the cable was silent, or this host stood still, so that the
  // socket's buffer was full. The window begins again, with what arrives from now on; the time since the last pulse
  // proves nothing.
  void interrupted(Instant now) {
    window_.reset();
    const Duration not_counted = now - std::max(counts_from_, last_heard_);
    good_since_ = good_since_ + not_counted;
    less_since_ = less_since_ + not_counted;
    counts_from_ = now;
  }

  // The percentage, rounded, that windows lost when they were last reported; 0: the cable is good.
  unsigned percent() const { return percent_; }
  // percent() if it has changed: the cable is lossy; loses twice as much; has lost at most half as much for the time of
  // a proof; or is good again. While it is lossy, kLossyPercent at least.
  std::optional<unsigned> changed();

 private:
  struct Window {
    std::uint64_t first = 0;
    std::uint64_t arrived = 0;
  };

  void judge(unsigned lost_permille, Instant now);
  void report(unsigned percent, Instant now);

  std::optional<Window> window_;
  Instant counts_from_;
  Instant last_heard_;
  unsigned percent_ = 0;
  bool changed_ = false;
  // While lossy: since when windows have been good, or at most half as lossy, and the worst of the latter.
  Instant good_since_;
  Instant less_since_;
  unsigned worst_since_ = 0;
  Duration proof_{kFirstProof};
  std::optional<Instant> good_again_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PULSE_LOSS_METER_H_
