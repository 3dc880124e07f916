// Decides whether circuits may use a cable, from the pulses that arrive over it and from other signs of life.
//
//   pulses miss --> doubt: the caller looks for other signs (packets that arrive, an answer of the neighbour's kernel)
//                     |-- none for as long -------------> kNone: the cable is silent
//                     +-- some, but no pulse for longer -> kDirect: only the neighbour's node is stalled
//   only small ones arrive -----------------------------> kNone: large packets are lost
//
// As in BFD (RFC 5880), each end states its interval. After three missed pulses, at the slower end's interval, a
// cable is in question. The limit also allows for recent scheduling delays: how late the sender's pulses were, as the
// pulses report, how late this host's timer ran, and this host's longest stall since the last pulse. Pulses count
// from their arrival in the kernel.
//
// A neighbour from which no pulse has been heard is not judged, since it may send none. The same applies to large
// pulses.
//
// One thread.
#ifndef CABLEWAY_CORE_PULSE_CABLE_JUDGE_H_
#define CABLEWAY_CORE_PULSE_CABLE_JUDGE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/clock.h"
#include "core/pulse/pulse.h"
#include "core/pulse/recent_maximum.h"

namespace cableway {

// Which circuits may use a cable.
enum class CableTrust : std::uint8_t {
  kAll,
  kDirect,  // circuits that end at the neighbour's processes, but none that the neighbour relays
  kNone,
};

// The beginning of the reason where only small pulses arrive.
inline constexpr absl::string_view kLargeLostReason = "large packets are lost: ";

struct CableVerdict {
  CableTrust trust = CableTrust::kAll;
  std::string reason;  // "the cable is silent: nothing was heard for 42 ms"
  // Pulses arrive again, but not yet for long enough: circuits may use the cable if they have no other.
  bool proving = false;

  friend bool operator==(const CableVerdict&, const CableVerdict&) = default;
};

class CableJudge {
 public:
  static constexpr int kMissedPulses = 3;
  // The maximum that lateness adds to the limit. With more lateness a working cable may count as silent.
  static constexpr std::chrono::milliseconds kMostLateness{500};
  // A cable that loses pulses at random has longer gaps, so kGaps times the longest recent gap with lost pulses is
  // not silence. If pulses were only late, twice the longest recent time without any sign of life is not silence
  // either. If another sign ended that time, as when pulses wait behind data, two intervals more than that time are
  // enough. A gap counts at most as kLongestGap.
  static constexpr int kGaps = 3;
  static constexpr std::chrono::milliseconds kLongestGap{200};
  // For this time after the first pulse the usual gaps are unknown, and the limit is at least kMostLateness.
  static constexpr std::chrono::seconds kAcquaintance{1};
  // A node counts as stalled after at least kRelayLimit, and after kRelayGaps times the longest recent gap between
  // pulses or the lateness, whichever is longer, counted up to kMostLateness. Pulses may wait behind data in a port's
  // queue.
  static constexpr std::chrono::milliseconds kRelayLimit{300};
  static constexpr int kRelayGaps = 4;
  // Large packets count as lost after this number of large pulses in a row is missing. On a cable that loses packets
  // at random the number is three times the recent maximum of missing ones, plus three.
  static constexpr int kMissedLarge = 4;
  // How long pulses must arrive until the cable is trusted again. The time doubles with each loss of trust, until the
  // cable has been good for kForgiven.
  static constexpr std::chrono::milliseconds kFirstProof{200};
  static constexpr std::chrono::seconds kLongestProof{30};
  static constexpr std::chrono::seconds kForgiven{60};

  // `neighbour` names the node in reasons. `interval`: this node's. `lateness` is that of this host's timer, and must
  // outlive this.
  CableJudge(std::string neighbour, Duration interval, RecentMaximum<Duration>& lateness)
      : neighbour_(std::move(neighbour)), own_interval_(interval), lateness_(lateness) {}

  // A new pulse arrived at `arrival`. `pulse.large`: it arrived with all of its bytes.
  void heard(const Pulse& pulse, Instant arrival);
  // This host's timer ran late by `late`, which was noticed at `now`.
  void stalled(Duration late, Instant now);
  // The caller has looked for signs of life. `found`: since the previous look, the neighbour's kernel has answered or
  // packets have arrived over the cable. The sign may be as old as that look, so it counts only if that look was a
  // moment ago.
  void looked(bool found, Instant now);
  // The neighbour's kernel refuses pulses. If none has arrived recently, no node runs there, and it is not judged
  // until it is heard again. A silent cable stays silent, since an untrusted peer could send a refusal.
  void gone(Instant now);
  // The cable was down and is back. Its silence in the meantime does not count. A distrusted cable stays distrusted.
  void resume(Instant now);

  // Whether the caller should look for signs of life now; at most once every 50 ms while the neighbour's node is
  // stalled.
  bool wants_signs(Instant now);
  // Returns the verdict if it has changed. Call after everything that has arrived by `now` was reported.
  std::optional<CableVerdict> judge(Instant now);
  CableTrust trust() const { return trust_; }
  // The field `hears` of pulses to the neighbour: false while the cable is silent and no pulses arrive.
  bool hears(Instant now) { return trust_ != CableTrust::kNone || !is_silent(now); }
  // The same for large pulses.
  bool hears_large(Instant now) { return trust_ != CableTrust::kNone || !(loses_large(now) || lacks_large()); }
  // When judge() may have a new verdict, or signs should be looked for, unless something arrives before. nullopt: one
  // check with each pulse that is sent is enough.
  std::optional<Instant> due(Instant now);

 private:
  void count_large(const Pulse& pulse, Instant arrival);
  Duration limit(Instant now);
  Duration relay_limit(Instant now);
  bool is_silent(Instant now) {
    // The neighbour's end of the cable may come back up some time later.
    const Duration least = heard_since_back_ ? Duration{0} : Duration(kMostLateness);
    return now - last_heard_ > std::max(limit(now), least);
  }
  bool loses_large(Instant now);
  // While large packets are known to be lost, two missing large pulses in a row restart the proof.
  bool lacks_large() const { return large_lost_ && missing_large_ > 1; }
  Duration lateness(Instant now);
  bool is_acquainted(Instant now) const { return now - known_since_ >= kAcquaintance; }
  Instant last_seen() const { return std::max(last_heard_, last_sign_); }
  Instant missing_since() const { return last_heard_ + interval_ + interval_ / 2; }
  // Sockets are read once in an interval, so a pulse is up to two intervals old before the next one is read.
  Instant doubted_since() const { return last_heard_ + 2 * interval_ + interval_ / 4; }
  std::optional<CableVerdict> lower(CableTrust trust, Instant now, std::string reason);
  std::optional<CableVerdict> judge_silence(Instant now);
  std::optional<CableVerdict> judge_return(Instant now);

  const std::string neighbour_;
  const Duration own_interval_;
  RecentMaximum<Duration>& lateness_;
  CableTrust trust_ = CableTrust::kAll;
  bool proving_ = false;          // as in the last verdict
  bool heard_since_back_ = true;  // a pulse was heard since the cable was last down
  bool known_ = false;            // a pulse was heard since the start, a refusal, or the cable's return
  bool neighbour_hears_ = true;
  bool neighbour_hears_large_ = true;
  // Large pulses: whether one has been heard since `known_` was set; the last one; how many are missing since then,
  // derived from the small ones that have arrived; and how many were missing recently by random loss.
  bool knows_large_ = false;
  bool large_lost_ = false;  // was found, here or by the neighbour; the cable has not been trusted since
  Instant last_large_;
  int small_since_large_ = 0;
  int missing_large_ = 0;
  RecentMaximum<int> random_large_;
  Instant last_heard_;
  Instant last_sign_;
  Instant last_look_;
  Instant next_look_;
  Duration extension_{0};  // the longest stall of this host since the last pulse
  Instant stalled_until_;
  Duration interval_{0};  // the slower end's
  Duration neighbour_late_{0};
  RecentMaximum<Duration> gaps_;         // between pulses
  RecentMaximum<Duration> lossy_gaps_;   // gaps in which pulses were lost
  RecentMaximum<Duration> late_limits_;  // from the other gaps: the time without a sign of life that is not silence
  Duration quiet_{0};                    // longest time without a sign since the last pulse, ended by another sign
  std::uint64_t last_counter_ = 0;       // the greatest counter heard
  Instant known_since_;
  Instant good_since_;  // pulses have arrived without a gap since then
  Duration proof_{0};   // of the last loss of trust
  Duration next_proof_{kFirstProof};
  Instant trusted_since_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PULSE_CABLE_JUDGE_H_
