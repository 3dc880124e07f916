#include "core/pulse/cable_judge.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cableway {
namespace {

using std::chrono::milliseconds;

// The interval between looks for signs of life while pulses are missing: an eighth of the time since the last pulse,
// from kNextLook to kLongestLook. kMoment: the maximum age of the previous look for a sign to count.
constexpr milliseconds kNextLook{2};
constexpr milliseconds kLongestLook{10};
constexpr milliseconds kMoment{15};
// While a node is stalled, signs are looked for less often, so the limit without a sign is longer.
constexpr milliseconds kSlowLook{50};
constexpr milliseconds kSlowMoment{150};
constexpr milliseconds kSlowSigns{200};
constexpr int kMostSmall = 1'000'000;  // further ones are not counted

std::int64_t in_ms(Duration duration) {
  return std::chrono::duration_cast<milliseconds>(duration).count();
}

}  // namespace

void CableJudge::heard(const Pulse& pulse, Instant arrival) {
  const Duration gap = arrival - last_heard_;
  interval_ = std::max<Duration>(own_interval_, milliseconds(pulse.interval_ms));
  neighbour_late_ = milliseconds(pulse.late_ms);
  const bool is_first = !std::exchange(known_, true);
  heard_since_back_ = true;
  const bool has_lost = pulse.counter > last_counter_ + 1;
  last_counter_ = std::max(last_counter_, pulse.counter);
  if (is_first) trusted_since_ = known_since_ = arrival;
  const Duration quiet = std::max(quiet_, arrival - last_seen());
  const bool ends_loss = pulse.large && loses_large(arrival);
  count_large(pulse, arrival);
  const bool is_good = pulse.hears && pulse.hears_large && !ends_loss && !loses_large(arrival) && !lacks_large();
  if (is_first || quiet > limit(arrival) || !is_good) good_since_ = arrival;
  if (!is_first && (gap <= kLongestGap || trust_ != CableTrust::kNone)) {
    gaps_.add(gap, arrival);
    const bool had_sign = quiet_ > Duration{0};
    if (has_lost) {
      lossy_gaps_.add(gap, arrival);
    } else {
      late_limits_.add(had_sign ? std::min<Duration>(2 * quiet, quiet + 2 * interval_) : 2 * quiet, arrival);
    }
  }
  quiet_ = Duration{0};
  neighbour_hears_ = pulse.hears;
  neighbour_hears_large_ = pulse.hears_large;
  last_heard_ = std::max(last_heard_, arrival);
  // Pulses that arrived during this host's stall do not end the allowance for it.
  if (arrival >= stalled_until_) extension_ = Duration{0};
}

// Counts pulses instead of time: missing small pulses prove nothing about large ones.
void CableJudge::count_large(const Pulse& pulse, Instant arrival) {
  if (pulse.large) {
    if (!loses_large(arrival)) random_large_.add(missing_large_, arrival);
    knows_large_ = true;
    last_large_ = std::max(last_large_, arrival);
    small_since_large_ = missing_large_ = 0;
    return;
  }
  small_since_large_ = std::min(small_since_large_ + 1, kMostSmall);
  // The next large pulse counts as missing only after a small one sent after it has arrived.
  missing_large_ = (small_since_large_ - 1) / (large_pulse_every(milliseconds(pulse.interval_ms)) - 1);
}

void CableJudge::looked(bool found, Instant now) {
  const Duration since = now - std::exchange(last_look_, now);
  const Duration moment = (trust_ == CableTrust::kAll ? kMoment : kSlowMoment) + lateness_.get(now);
  if (!found || since > moment) return;
  quiet_ = std::max(quiet_, now - last_seen());
  last_sign_ = now;
}

void CableJudge::stalled(Duration late, Instant now) {
  extension_ = std::max(extension_, late);
  stalled_until_ = now;
}

void CableJudge::gone(Instant now) {
  if (trust_ == CableTrust::kNone || now < missing_since()) return;
  known_ = knows_large_ = false;
  neighbour_hears_ = neighbour_hears_large_ = true;
}

void CableJudge::resume(Instant now) {
  if (trust_ == CableTrust::kAll) known_ = knows_large_ = false;
  last_heard_ = last_sign_ = good_since_ = now;
  small_since_large_ = missing_large_ = 0;
  neighbour_hears_ = neighbour_hears_large_ = true;
  heard_since_back_ = false;
}

Duration CableJudge::lateness(Instant now) {
  return neighbour_late_ + lateness_.get(now);
}

Duration CableJudge::limit(Instant now) {
  const Duration missed = kMissedPulses * interval_ + interval_ / 2 + std::min<Duration>(lateness(now), kMostLateness);
  const Duration late_ones = std::min<Duration>(late_limits_.get(now), 2 * kLongestGap);
  const Duration lost_ones = kGaps * std::min<Duration>(lossy_gaps_.get(now), kLongestGap);
  const Duration first = is_acquainted(now) ? Duration{0} : Duration(kMostLateness);
  return std::max({missed, late_ones, lost_ones, first}) + extension_;
}

bool CableJudge::loses_large(Instant now) {
  const int lost_at_random = random_large_.get(now);
  return knows_large_ && missing_large_ >= std::max(kMissedLarge, kGaps * (lost_at_random + 1));
}

Duration CableJudge::relay_limit(Instant now) {
  const Duration gap = std::max(gaps_.get(now), is_acquainted(now) ? Duration{0} : Duration(kMostLateness / kGaps));
  const Duration usual = std::min<Duration>(std::max(gap, lateness(now)), kMostLateness);
  return std::max<Duration>(kRelayLimit, kRelayGaps * usual) + extension_;
}

bool CableJudge::wants_signs(Instant now) {
  if (!known_ || trust_ == CableTrust::kNone || now < next_look_ || now < doubted_since()) return false;
  const Duration next = std::clamp<Duration>((now - last_heard_) / 8, kNextLook, kLongestLook);
  next_look_ = now + (trust_ == CableTrust::kAll ? next : Duration(kSlowLook));
  return true;
}

std::optional<CableVerdict> CableJudge::judge(Instant now) {
  if (!known_) {
    proving_ = large_lost_ = false;
    if (std::exchange(trust_, CableTrust::kAll) == CableTrust::kAll) return std::nullopt;
    return CableVerdict{CableTrust::kAll, absl::StrCat("node ", neighbour_, " has ended")};
  }
  if (is_silent(now)) return judge_silence(now);
  if (!neighbour_hears_) {
    return lower(CableTrust::kNone, now, absl::StrCat("node ", neighbour_, " hears nothing of this node"));
  }
  if (loses_large(now)) {
    large_lost_ = true;
    return lower(CableTrust::kNone, now,
                 absl::StrCat(kLargeLostReason, "none from node ", neighbour_, " has arrived for ",
                              in_ms(now - last_large_), " ms, small ones do"));
  }
  if (!neighbour_hears_large_) {
    large_lost_ = true;
    return lower(CableTrust::kNone, now,
                 absl::StrCat(kLargeLostReason, "none arrives at node ", neighbour_, ", small ones do"));
  }
  if (trust_ != CableTrust::kAll) return judge_return(now);
  if (now - trusted_since_ >= kForgiven) next_proof_ = kFirstProof;
  return std::nullopt;
}

std::optional<CableVerdict> CableJudge::judge_silence(Instant now) {
  const Duration silent = now - last_heard_;
  const Duration signless = now - last_seen();
  const Duration patience = limit(now) + (trust_ == CableTrust::kDirect ? Duration(kSlowSigns) : Duration(0));
  if (signless > patience) {
    return lower(CableTrust::kNone, now,
                 absl::StrCat("the cable is silent: nothing was heard for ", in_ms(signless), " ms"));
  }
  if (silent <= relay_limit(now)) return std::nullopt;
  return lower(
      CableTrust::kDirect, now,
      absl::StrCat("node ", neighbour_, " stands still: packets arrive, but no pulse for ", in_ms(silent), " ms"));
}

std::optional<CableVerdict> CableJudge::lower(CableTrust trust, Instant now, std::string reason) {
  const bool was_proving = std::exchange(proving_, false);
  if (trust <= trust_ && !was_proving) return std::nullopt;
  const bool was_good = std::exchange(trust_, trust) == CableTrust::kAll;
  good_since_ = now;
  next_look_ = now;
  if (was_good) proof_ = std::exchange(next_proof_, std::min<Duration>(2 * next_proof_, kLongestProof));
  return CableVerdict{trust, std::move(reason)};
}

std::optional<CableVerdict> CableJudge::judge_return(Instant now) {
  const Duration proof = std::max<Duration>(proof_, kMissedPulses * interval_);
  const bool has_large = !knows_large_ || last_large_ > good_since_;
  // A cable that passes only some large packets must not alternate between used and unused.
  const Duration first_proof = std::max<Duration>(kFirstProof, kMissedPulses * interval_);
  if (large_lost_ && last_heard_ - good_since_ < first_proof) return std::nullopt;
  if (last_heard_ - good_since_ < proof || !has_large) {
    if (last_heard_ <= good_since_ || std::exchange(proving_, true)) return std::nullopt;
    return CableVerdict{trust_, absl::StrCat("pulses arrive again, but not yet for ", in_ms(proof), " ms"), true};
  }
  trust_ = CableTrust::kAll;
  proving_ = large_lost_ = false;
  trusted_since_ = now;
  return CableVerdict{CableTrust::kAll, absl::StrCat("pulses have arrived for ", in_ms(proof), " ms")};
}

std::optional<Instant> CableJudge::due(Instant now) {
  if (!known_ || trust_ == CableTrust::kNone) return std::nullopt;
  if (doubted_since() > now) return doubted_since();
  // While the neighbour's node is stalled, a check with the next pulse is soon enough.
  if (trust_ == CableTrust::kDirect) return std::nullopt;
  const Instant look_at = std::max(next_look_, now + kNextLook);
  const Instant silent_at = last_seen() + limit(now);
  return silent_at > now ? std::min(silent_at, look_at) : look_at;
}

}  // namespace cableway
