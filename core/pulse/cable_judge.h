// Judges from the pulses that arrive over one cable, and from other signs of life, whether circuits may use it.
//
//   pulses miss --> doubt: the caller looks for other signs (packets that arrive, an answer of the neighbour's kernel)
//                     |-- none either for as long ------> kNone: the cable is silent
//                     +-- some, but no pulse for longer -> kDirect: only the neighbour's node stands still
//   only small ones arrive -----------------------------> kNone: large packets are lost
//
// As in BFD (RFC 5880) each end states its interval; after three missed pulses, of the slower end, a cable is in
// question. Beyond that a judgement allows for what the scheduler did lately: how late pulses were at the sender, as
// they say themselves, how late this host's timer ran, and the whole of the longest stall of this host since the last
// pulse. Pulses count from their arrival in the kernel.
//
// A neighbour from which no pulse has been heard is not judged: it may send none. The same goes for large ones.
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
  kDirect,  // those that end at the neighbour's processes, but none that it relays
  kNone,
};

// How the reason begins where only small pulses arrive.
inline constexpr absl::string_view kLargeLostReason = "large packets are lost: ";

struct CableVerdict {
  CableTrust trust = CableTrust::kAll;
  std::string reason;  // "the cable is silent: nothing was heard for 42 ms"
  // Pulses arrive again, but not yet for long enough: circuits may use the cable where they have nothing else.
  bool proving = false;

  friend bool operator==(const CableVerdict&, const CableVerdict&) = default;
};

class CableJudge {
 public:
  static constexpr int kMissedPulses = 3;
  // What lateness adds to the limit at most. Lateness beyond that may make a working cable count as silent.
  static constexpr std::chrono::milliseconds kMostLateness{500};
  // A cable that loses pulses at random has longer gaps: kGaps times the longest recent gap with lost pulses is no
  // silence. If pulses were only late, neither is twice the longest recent time without any sign of life; if another
  // sign ended that time, as behind data, two intervals more are enough. Of a gap, kLongestGap counts at most.
  static constexpr int kGaps = 3;
  static constexpr std::chrono::milliseconds kLongestGap{200};
  // For so long after the first pulse the gaps are not known, and the limit is kMostLateness.
  static constexpr std::chrono::seconds kAcquaintance{1};
  // A node stands still after so long at least, and after so many times the longest recent gap between pulses, or
  // lateness if that is longer, of which kMostLateness counts at most. Pulses may wait behind data in a port's queue.
  static constexpr std::chrono::milliseconds kRelayLimit{300};
  static constexpr int kRelayGaps = 4;
  // Large packets count as lost once so many large pulses in a row are missing; on a cable that loses packets at
  // random, three times as many as were missing lately, plus three.
  static constexpr int kMissedLarge = 4;
  // How long pulses must arrive until a cable counts again: doubled with each loss of trust, until the cable has been
  // good for kForgiven.
  static constexpr std::chrono::milliseconds kFirstProof{200};
  static constexpr std::chrono::seconds kLongestProof{30};
  static constexpr std::chrono::seconds kForgiven{60};

  // `neighbour` names the node, for reasons. `interval`: this node's. `lateness`, of this host's timer, must outlive
  // this.
  CableJudge(std::string neighbour, Duration interval, RecentMaximum<Duration>& lateness)
      : neighbour_(std::move(neighbour)), own_interval_(interval), lateness_(lateness) {}

  // A new pulse has arrived, at that time. `pulse.large`: with all of its bytes.
  void heard(const Pulse& pulse, Instant arrival);
  // This host's timer ran late by `late`, which was noticed at `now`.
  void stalled(Duration late, Instant now);
  // The caller has looked for signs of life. `found`: the neighbour's kernel has answered, or packets have arrived over
  // the cable, since the previous look. It counts only if that look was a moment ago, since the sign may be that old.
  void looked(bool found, Instant now);
  // The neighbour's kernel refuses pulses: if none has arrived lately, no node runs there, and it is not judged until
  // it is heard again. A silent cable stays silent: anybody may send a refusal.
  void gone(Instant now);
  // The cable was down for a while and is back: its silence meanwhile says nothing. One that was distrusted still is.
  void resume(Instant now);

  // Whether the caller should look for signs of life now. While the neighbour's node stands still, at most once every
  // 50 ms.
  bool wants_signs(Instant now);
  // The verdict, if it has changed. Call after all that has arrived by `now` was reported.
  std::optional<CableVerdict> judge(Instant now);
  CableTrust trust() const { return trust_; }
  // What pulses to the neighbour say of its own: false while the cable is silent and no pulses arrive.
  bool hears(Instant now) { return trust_ != CableTrust::kNone || !is_silent(now); }
  // The same of large ones.
  bool hears_large(Instant now) { return trust_ != CableTrust::kNone || !(loses_large(now) || lacks_large()); }
  // When judge() may have a new verdict, or signs should be looked for, unless something arrives before; nullopt: a
  // check with each pulse that is sent is enough.
  std::optional<Instant> due(Instant now);

 private:
  void count_large(const Pulse& pulse, Instant arrival);
  Duration limit(Instant now);
  Duration relay_limit(Instant now);
  bool is_silent(Instant now) {
    // The neighbour may have a cable that comes back up some time later.
    const Duration least = heard_since_back_ ? Duration{0} : Duration(kMostLateness);
    return now - last_heard_ > std::max(limit(now), least);
  }
  bool loses_large(Instant now);
  // While large packets are known to be lost, two missing in a row begin the proof again.
  bool lacks_large() const { return large_lost_ && missing_large_ > 1; }
  Duration lateness(Instant now);
  bool is_acquainted(Instant now) const { return now - known_since_ >= kAcquaintance; }
  Instant last_seen() const { return std::max(last_heard_, last_sign_); }
  Instant missing_since() const { return last_heard_ + interval_ + interval_ / 2; }
  std::optional<CableVerdict> lower(CableTrust trust, Instant now, std::string reason);
  std::optional<CableVerdict> judge_silence(Instant now);
  std::optional<CableVerdict> judge_return(Instant now);

  const std::string neighbour_;
  const Duration own_interval_;
  RecentMaximum<Duration>& lateness_;
  CableTrust trust_ = CableTrust::kAll;
  bool proving_ = false;          // as the last verdict says
  bool heard_since_back_ = true;  // a pulse since the cable was down the last time
  bool known_ = false;            // a pulse has been heard since the start, a refusal or the cable's return
  bool neighbour_hears_ = true;
  bool neighbour_hears_large_ = true;
  // Large pulses: whether one has been heard since `known_`; the last one; how many are missing since, by the small
  // ones that have arrived; and how many were missing lately by random loss.
  bool knows_large_ = false;
  bool large_lost_ = false;  // was found, here or by the neighbour, and the cable has not been trusted since
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
  RecentMaximum<Duration> lossy_gaps_;   // those in which some were lost
  RecentMaximum<Duration> late_limits_;  // from the others: for how long no sign of life is no silence
  Duration quiet_{0};               // since the last pulse, the longest time without a sign that another sign ended
  std::uint64_t last_counter_ = 0;  // the greatest heard
  Instant known_since_;
  Instant good_since_;  // pulses have arrived without a gap since then
  Duration proof_{0};   // of the last verdict
  Duration next_proof_{kFirstProof};
  Instant trusted_since_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PULSE_CABLE_JUDGE_H_
