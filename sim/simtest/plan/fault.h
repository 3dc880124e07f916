// The faults of a simulation test and their times: a value that can be printed, parsed, and shrunk.
#ifndef CABLEWAY_SIM_SIMTEST_PLAN_FAULT_H_
#define CABLEWAY_SIM_SIMTEST_PLAN_FAULT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/clock.h"

namespace cableway::sim {

enum class FaultKind : std::uint8_t {
  // Faults of a cable.
  kCut,          // no carrier; amount 1: connections over it end at once
  kSilence,      // amount: 1 what its first port sends, 2 its second port, 3 both
  kLarge,        // packets as large as the MTU are lost; amount as for kSilence
  kLoss,         // amount: per mille of datagrams
  kBurst,        // amount: per mille of datagrams with which a burst of losses begins
  kDelay,        // amount: microseconds
  kJitter,       // amount: microseconds; reorders datagrams
  kDouble,       // amount: per mille of datagrams
  kCorrupt,      // amount: per mille of datagrams
  kCorruptData,  // connections over it end: their transport detects the corruption
  kQueue,        // amount: maximum datagrams in flight
  kFlap,         // amount: microseconds between losing and regaining the carrier
  kLateSend,     // amount: microseconds by which sends complete late
  kFailSend,     // the next send of each connection over it fails
  // Faults of nodes.
  kPartition,  // amount: bit mask of the nodes whose cables to the others are silent
  kCrash,      // the node's process crashes and restarts
  kPower,      // its host and everything on it is off
  kLeave,      // it announces that it leaves, ends, and restarts
  kDrain,      // it relays nothing new
  kSlow,       // amount: microseconds that its relay needs per chunk, and its applications to poll; pulses are late
  kRefuse,     // it refuses to relay set-ups
  kDrift,      // amount: 1,000,000 plus the ppm that its clock gains; for the whole run
  // Faults of a flow.
  kKill,  // amount 0: its source's application dies, 1: its destination's
  // Faults that test how flows outlive their circuits.
  kCutOn,         // a cable: connections over it end when a frame passes it; amount: CutOn's
  kStop,          // a node: its relay, the listener for it and its pulses stand still; its connections stay up
  kFalseVerdict,  // a flow: a live circuit is ended, every 3 ms; amount 0: by its source, 1: its destination, 2: both
  kCutAnswer,     // a flow: connections of set-ups end after the destination has accepted, before the source knows
  kFlip,          // a cable: over TCP one bit of every n-th chunk changes, below the checksum; amount: n
  kDrainCable,    // a cable: drained by its first end's node, amount 1: its second's, 2: both; while that node runs
  kRate,          // a cable: it carries data at another rate, of which nodes are not told; amount: RateChange's
  // A party without the key.
  kReplay,  // a cable: what nodes have sent anywhere is played there (eavesdropper.h); amount: microseconds between two
  kHold,    // a cable: control datagrams of one port are held back (datagram_holder.h); amount: Holding's
  // A party with the key, if there is one.
  kLie,  // a node: it has a cable to a party that sends false information (liar.h); amount: Lies'
};
inline constexpr std::size_t kFaultKinds = static_cast<std::size_t>(FaultKind::kLie) + 1;

struct Fault {
  FaultKind kind = FaultKind::kCut;
  Duration at{0};
  Duration lasts{0};         // 0: permanent
  std::uint32_t target = 0;  // number of the cable, node or flow
  std::uint64_t amount = 0;

  Duration end() const { return at + lasts; }
  friend bool operator==(const Fault&, const Fault&) = default;
};

using FaultPlan = std::vector<Fault>;

// "cut@1500+200:3:1,drain@0+0:2:0": kind, start and length in milliseconds with up to six decimals, target, amount. An
// empty plan is "none".
std::string to_text(const FaultPlan& plan);
// InvalidArgument names the invalid entry and what was expected. At most kMaxFaults.
absl::StatusOr<FaultPlan> parse_fault_plan(std::string_view text);

// The event that a kCutOn waits for: a frame of the given kind is sent over the cable, after a number of others of that
// kind. The amount is six times that number plus the kind; the frame itself is lost if the number is even, and still
// arrives if it is odd.
struct CutOn {
  enum Kind : std::uint8_t { kAnnounce, kAck, kLanded, kRetire, kRetired, kSetup };  // kSetup: a connection for one
  static constexpr std::uint64_t kKinds = 6;

  explicit CutOn(std::uint64_t amount) : kind(static_cast<Kind>(amount % kKinds)), others(amount / kKinds) {}

  Kind kind;
  std::uint64_t others;
  bool arrives() const { return others % 2 == 1; }
};

// What a kRate does to data that leaves by some ports of its cable. The amount is ten times the remaining rate, in per
// mille of the usual one (1 to 1,000,000), plus the ports as for kSilence. 503: 50 per mille at both ports.
struct RateChange {
  static constexpr std::uint64_t kEnds = 10;

  explicit RateChange(std::uint64_t amount)
      : ends(amount % kEnds), per_mille(std::clamp<std::uint64_t>(amount / kEnds, 1, 1'000'000)) {}
  static std::uint64_t amount(std::uint64_t per_mille, std::uint64_t ends) { return per_mille * kEnds + ends; }

  std::uint64_t ends;  // as bits
  std::uint64_t per_mille;
};

// Which datagrams a kHold holds back, and for how long. The amount is four times the milliseconds, plus 2 if they pass
// out of order, plus the port as its end of the cable.
struct Holding {
  static constexpr std::uint64_t kWays = 4;

  explicit Holding(std::uint64_t amount) : end(amount % 2), in_order(amount / 2 % 2 == 0), longest_ms(amount / kWays) {}

  Duration longest() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::min<std::uint64_t>(longest_ms, 10'000)));
  }

  std::size_t end;
  bool in_order;
  std::uint64_t longest_ms;
};

// What a kLie says, and how often. The amount is 64 times the microseconds between two lies plus the kinds, as bits.
struct Lies {
  enum Kind : std::uint8_t {
    kForge = 1,         // advertisements of other nodes
    kClaim = 2,         // cables and addresses that it does not have
    kInvent = 4,        // nodes and cables that do not exist
    kGreet = 8,         // hellos and segments of others
    kNamesake = 16,     // it uses the name of an existing node
    kSecondCable = 32,  // it also has a cable to another node, so that it may be on paths
  };
  static constexpr std::uint64_t kKinds = 64;

  explicit Lies(std::uint64_t amount)
      : kinds(amount % kKinds), every_us(std::max<std::uint64_t>(amount / kKinds, 500)) {}
  static std::uint64_t amount(std::uint64_t kinds, std::uint64_t every_us) { return every_us * kKinds + kinds; }

  bool has(Kind kind) const { return (kinds & kind) != 0; }
  Duration every() const {
    return std::chrono::microseconds(static_cast<std::int64_t>(std::min<std::uint64_t>(every_us, 1'000'000)));
  }

  std::uint64_t kinds;
  std::uint64_t every_us;
};

// The longest stall of a host's threads while its node is slow by this amount.
Duration longest_stall(std::uint64_t slow);

inline constexpr std::size_t kMaxFaults = 1000;
inline constexpr std::chrono::seconds kMaxFaultTime{36'000};

const char* to_text(FaultKind kind);
absl::StatusOr<FaultKind> parse_fault_kind(std::string_view text);

// The world needs a key, or the fault could change what nodes believe.
inline bool needs_key(FaultKind kind) {
  return kind == FaultKind::kCorrupt || kind == FaultKind::kReplay || kind == FaultKind::kHold;
}

enum class FaultTarget { kCable, kNode, kFlow, kNone };
FaultTarget target_of(FaultKind kind);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PLAN_FAULT_H_
