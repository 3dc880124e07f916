#include "core/pulse/loss_meter.h"

#include <algorithm>
#include <utility>

namespace cableway {

void LossMeter::heard(std::uint64_t number, Instant arrival) {
  if (arrival < counts_from_) return;
  if (!window_.has_value()) window_ = Window{number, 0};
  if (number <= window_->first) return;  // late: the window before has counted it as lost
  ++window_->arrived;
  const std::uint64_t sent = number - window_->first;
  if (sent < kWindow) return;
  // Only copies, which Pulses drops, could make it more than were sent.
  const std::uint64_t lost = sent - std::min(window_->arrived, sent);
  judge(static_cast<unsigned>(lost * 1000 / sent), arrival);
  window_ = Window{number, 0};
}

void LossMeter::judge(unsigned lost_permille, Instant now) {
  const unsigned rounded = (lost_permille + 5) / 10;
  if (percent_ == 0) {
    if (lost_permille < kLossyPercent * 10) return;
    const bool again = good_again_.has_value() && now - *good_again_ < kForgiven;
    proof_ = again ? std::min<Duration>(2 * proof_, kLongestProof) : Duration(kFirstProof);
    percent_ = rounded;
    changed_ = true;
    good_since_ = now;
    return;
  }
  if (lost_permille >= kGoodPercent * 10) good_since_ = now;
  if (rounded >= 2 * percent_) {
    percent_ = rounded;
    changed_ = true;
  } else if (now - good_since_ >= proof_) {
    percent_ = 0;
    good_again_ = now;
    changed_ = true;
  }
}

std::optional<unsigned> LossMeter::changed() {
  return std::exchange(changed_, false) ? std::optional(percent_) : std::nullopt;
}

}  // namespace cableway
