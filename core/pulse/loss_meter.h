// Measures the share of a neighbour's pulses that a cable loses, and decides whether it is too high. The pulses of a
// cable are numbered without gaps, so lost pulses are known; pulses that were never sent do not count.
//
// A cable that loses one packet in twenty works for hellos and pulses, but ruins the traffic of its users: TCP sends
// at a fraction of the rate, and RDMA retransmits from the lost packet on.
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
  // The number of pulses for each judgement, 10 s of them. A cable that loses 5 % loses 50 of them, with a standard
  // deviation of 7.
  static constexpr std::uint64_t kWindow = 1000;
  // A cable is lossy if a window loses at least kLossyPercent, and good again after windows have lost less than
  // kGoodPercent for some time. With random loss of 0.8 % a cable is not found lossy in a century, with 1 % about
  // once in two years, with 5 % in nearly every window.
  static constexpr unsigned kLossyPercent = 3;
  static constexpr unsigned kGoodPercent = 1;
  // That time, doubled whenever the cable becomes lossy again within kForgiven. Otherwise a cable that loses packets
  // only while it is used would alternate between both states for ever.
  static constexpr std::chrono::seconds kFirstProof{60};
  static constexpr std::chrono::seconds kLongestProof{3600};
  static constexpr std::chrono::hours kForgiven{1};

  // A new pulse with this number has arrived.
  void heard(std::uint64_t number, Instant arrival);
  // Pulses lost until now were not lost at random: the cable was silent, or this host was stalled, so that the
  // socket's buffer was full. The window restarts with the next arrival; the time since the last pulse proves
  // nothing.
  void interrupted(Instant now) {
    window_.reset();
    const Duration not_counted = now - std::max(counts_from_, last_heard_);
    good_since_ = good_since_ + not_counted;
    less_since_ = less_since_ + not_counted;
    counts_from_ = now;
  }

  // The rounded percentage of lost pulses that was reported last. 0: the cable is good.
  unsigned percent() const { return percent_; }
  // Returns percent() if it has changed: the cable has become lossy, loses twice as much, has lost at most half as
  // much for the time of a proof, or is good again. At least kLossyPercent while the cable is lossy.
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
  // While lossy: the times since which windows have been good, or at most half as lossy; and the highest loss of the
  // latter.
  Instant good_since_;
  Instant less_since_;
  unsigned worst_since_ = 0;
  Duration proof_{kFirstProof};
  std::optional<Instant> good_again_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PULSE_LOSS_METER_H_
