#include "core/pulse/loss_meter.h"

#include <algorithm>
#include <utility>

namespace cableway {

void LossMeter::heard(std::uint64_t number, Instant arrival) {
  if (arrival < counts_from_) return;
  last_heard_ = arrival;
  if (!window_.has_value()) window_ = Window{number, 0};
  if (number <= window_->first) return;  // late: the previous window has counted it as lost
  ++window_->arrived;
  const std::uint64_t sent = number - window_->first;
  if (sent < kWindow) return;
  // Only duplicates, which Pulses drops, could make the arrived count exceed the sent count.
  const std::uint64_t lost = sent - std::min(window_->arrived, sent);
  judge(static_cast<unsigned>(lost * 1000 / sent), arrival);
  window_ = Window{number, 0};
}

void LossMeter::judge(unsigned lost_permille, Instant now) {
  const unsigned rounded = std::max((lost_permille + 5) / 10, kLossyPercent);
  if (percent_ == 0) {
    if (lost_permille < kLossyPercent * 10) return;
    const bool again = good_again_.has_value() && now - *good_again_ < kForgiven;
    proof_ = again ? std::min<Duration>(2 * proof_, kLongestProof) : Duration(kFirstProof);
    good_since_ = now;
    return report(rounded, now);
  }
  if (lost_permille >= kGoodPercent * 10) good_since_ = now;
  if (2 * rounded > percent_) {
    less_since_ = now;
    worst_since_ = 0;
  }
  worst_since_ = std::max(worst_since_, 2 * rounded > percent_ ? 0 : rounded);
  if (rounded >= 2 * percent_) {
    report(rounded, now);
  } else if (now - good_since_ >= proof_) {
    report(0, now);
    good_again_ = now;
  } else if (now - less_since_ >= proof_ && worst_since_ > 0) {
    report(worst_since_, now);
  }
}

void LossMeter::report(unsigned percent, Instant now) {
  percent_ = percent;
  changed_ = true;
  less_since_ = now;
  worst_since_ = 0;
}

std::optional<unsigned> LossMeter::changed() {
  return std::exchange(changed_, false) ? std::optional(percent_) : std::nullopt;
}

}  // namespace cableway
