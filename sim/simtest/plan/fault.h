// What goes wrong in a simulation test, and when: a value that can be printed, read again, and made smaller.
#ifndef CABLEWAY_SIM_SIMTEST_PLAN_FAULT_H_
#define CABLEWAY_SIM_SIMTEST_PLAN_FAULT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/clock.h"

namespace cableway::sim {

enum class FaultKind : std::uint8_t {
  // Of a cable.
  kCut,          // no carrier; amount 1: connections over it end at once
  kSilence,      // amount: 1 what its first port sends, 2 its second port, 3 both
  kLoss,         // amount: per mille of datagrams
  kBurst,        // amount: per mille of datagrams with which a burst of losses begins
  kDelay,        // amount: microseconds
  kJitter,       // amount: microseconds; datagrams overtake each other
  kDouble,       // amount: per mille of datagrams
  kCorrupt,      // amount: per mille of datagrams
  kCorruptData,  // connections over it end: their transport has noticed
  kQueue,        // amount: datagrams that may be on their way
  kFlap,         // amount: microseconds between losing the carrier and having it again
  kLateSend,     // amount: microseconds by which sends complete late
  kFailSend,     // the next send of each connection over it fails
  // Of nodes.
  kPartition,  // amount: the nodes, a bit each, whose cables to the others are silent
  kCrash,      // the node's process ends and begins again
  kPower,      // its host is off, and everything on it
  kLeave,      // it says goodbye, and begins again
  kDrain,      // it carries no transit
  kSlow,       // amount: microseconds that its relay takes for a chunk, and its applications to look
  kRefuse,     // it refuses set-ups that want to pass
  kDrift,      // amount: a million and the millionths that its clock gains; for the whole run
  // Of a flow.
  kKill,  // amount 0: its source's application dies, 1: its destination's
};

struct Fault {
  FaultKind kind = FaultKind::kCut;
  Duration at{0};
  Duration lasts{0};         // 0: for good
  std::uint32_t target = 0;  // number of the cable, node or flow
  std::uint64_t amount = 0;

  Duration end() const { return at + lasts; }
  friend bool operator==(const Fault&, const Fault&) = default;
};

using FaultPlan = std::vector<Fault>;

// "cut@1500+200:3:1,drain@0+0:2:0": kind, begin and length in milliseconds with up to six digits after the point,
// target, amount. No fault at all is "none".
std::string to_text(const FaultPlan& plan);
// InvalidArgument says which entry is wrong and what was expected. At most kMaxFaults.
absl::StatusOr<FaultPlan> parse_fault_plan(std::string_view text);

inline constexpr std::size_t kMaxFaults = 1000;
inline constexpr std::chrono::seconds kMaxFaultTime{36'000};

const char* to_text(FaultKind kind);
absl::StatusOr<FaultKind> parse_fault_kind(std::string_view text);

enum class FaultTarget { kCable, kNode, kFlow, kNone };
FaultTarget target_of(FaultKind kind);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PLAN_FAULT_H_
