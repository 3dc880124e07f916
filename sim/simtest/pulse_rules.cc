#include "sim/simtest/pulse_rules.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/simtest/ground/node_process.h"
#include "sim/simtest/plan/fault_reach.h"

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

constexpr int kRule = 9;
// Pulses that a fault has held up may be missing for a moment after it.
constexpr std::chrono::seconds kCausesWithin{2};
// How far back judgements remember gaps and lateness, and how long they take to get to know a cable.
constexpr Duration kRemembers = 2 * kRecentWindow + std::chrono::seconds(1);
constexpr Duration kKnownAfter = CableJudge::kAcquaintance + std::chrono::milliseconds(200);
constexpr milliseconds kTrustSlack{1000};

std::int64_t in_ms(Duration duration) {
  return std::chrono::duration_cast<milliseconds>(duration).count();
}

// Clocks may drift by a twentieth.
Duration proof_after(int losses) {
  Duration proof = CableJudge::kFirstProof;
  for (int i = 1; i < losses && proof < CableJudge::kLongestProof; ++i) proof *= 2;
  return std::min<Duration>(proof, CableJudge::kLongestProof) * 11 / 10;
}

PortLost lost_at(const SimtestGround& ground, std::size_t segment, std::size_t end, const std::string& name) {
  const auto& [node, port] = ground.nodes.fabric().ends_of(segment)[end];
  return {ground.interface_of(node, port), "", false, name, false};
}

}  // namespace

PulseRules::PulseRules(SimtestGround& ground, const std::vector<std::unique_ptr<SimtestFlow>>& flows)
    : ground_(ground), flows_(flows) {
  const CableFabric& fabric = ground.nodes.fabric();
  for (std::size_t segment = 0; segment < ground.plan.shape.segments(); ++segment) {
    for (std::size_t b = 0; b < fabric.ends_of(segment).size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) cables_[ground.cable_name(segment, a, b)] = Cable{segment, a, b};
    }
  }
  // Liars, whose cables come after all others, answer no pulses.
  for (std::size_t segment = ground.plan.shape.segments(); segment < fabric.segment_count(); ++segment) {
    const auto& [node, port] = fabric.ends_of(segment)[0];
    ends_at_liars_.push_back(absl::StrCat(SimtestGround::name(node), ".", ground.interface_of(node, port)));
  }
}

void PulseRules::start() {
  if (ground_.plan.pulse == milliseconds{0}) return;
  for (const Fault& fault : ground_.plan.faults) {
    if (fault.kind != FaultKind::kSilence || (fault.amount & 3) == 0) continue;
    ground_.clock().post_at(Instant{fault.at}, [this, &fault] { silence_begins(fault); });
  }
}

const NodePulses* PulseRules::pulses_of(std::size_t node) const {
  return ground_.processes[node]->pulses();
}

std::size_t PulseRules::node_at(const Cable& cable, std::size_t end) const {
  return ground_.nodes.fabric().ends_of(cable.segment)[end].first;
}

// Whatever the liar calls itself.
bool PulseRules::leads_to_liar(const std::string& cable) const {
  return std::any_of(ends_at_liars_.begin(), ends_at_liars_.end(), [&](const std::string& end) {
    return absl::StartsWith(cable, end + "-") || absl::EndsWith(cable, "-" + end);
  });
}

void PulseRules::verdict(std::size_t node, const PulsedCable& cable, const CableVerdict& verdict) {
  ground_.trace.add(node);
  ground_.trace.add(static_cast<std::uint64_t>(verdict.trust));
  Judged& judged = judged_[{node, cable.name}];
  if (verdict.trust == CableTrust::kAll) {
    judged.distrusted = false;
    return;
  }
  if (verdict.proving) return;
  if (!std::exchange(judged.distrusted, true)) ++judged.losses;
  ++(verdict.trust == CableTrust::kNone ? silent_ : still_);
  const Instant now = ground_.clock().now();
  const Instant since = now.since_start > kCausesWithin ? Instant{now.since_start - kCausesWithin} : Instant{};
  if (leads_to_liar(cable.name)) return;
  const auto known = cables_.find(cable.name);
  const bool only_large = absl::StartsWith(verdict.reason, kLargeLostReason);
  const auto is_cause = [only_large](const Fault& fault) {
    return may_stop_pulses(fault) || (only_large && fault.kind == FaultKind::kLarge);
  };
  const bool has_cause =
      known != cables_.end() && is_touched(ground_.plan, known->second.segment, since, now, is_cause);
  if (has_cause) return;
  ground_.rules.broken(kRule, absl::StrCat(SimtestGround::name(node), " finds ", cable.name,
                                           " at fault without a cause: ", verdict.reason));
}

bool PulseRules::rest() const {
  for (std::size_t node = 0; node < ground_.nodes.size(); ++node) {
    const NodePulses* const pulses = pulses_of(node);
    if (pulses == nullptr || pulses->doubted().empty()) continue;
    const routing::Topology& topology = ground_.nodes.node(node).paths().topology();
    const bool any = std::any_of(pulses->doubted().begin(), pulses->doubted().end(),
                                 [&](const auto& doubted) { return topology.find_cable(doubted.first).has_value(); });
    if (any) return false;
  }
  return true;
}

Duration PulseRules::latest() const {
  Duration latest{0};
  for (std::size_t node = 0; node < ground_.nodes.size(); ++node) {
    if (pulses_of(node) != nullptr) latest = std::max(latest, pulses_of(node)->latest());
  }
  return latest;
}

void PulseRules::check() {
  for (std::size_t node = 0; node < ground_.nodes.size(); ++node) {
    if (pulses_of(node) == nullptr) continue;
    for (const auto& [name, doubted] : pulses_of(node)->doubted()) check_trust(node, name);
  }
}

// A cable whose pulses were undisturbed for as long as its proof takes is trusted.
void PulseRules::check_trust(std::size_t node, const std::string& name) {
  if (leads_to_liar(name)) return;
  const Cable& cable = cables_.at(name);
  const std::size_t other = node_at(cable, cable.a) == node ? node_at(cable, cable.b) : node_at(cable, cable.a);
  const NodePulses* const there = pulses_of(other);
  const std::optional<Instant> since = pulses_of(node)->pulsed_since(name);
  const std::optional<Instant> since_there = there == nullptr ? std::nullopt : there->pulsed_since(name);
  if (!since.has_value() || !since_there.has_value()) return;
  const Instant now = ground_.clock().now();
  const Duration takes = proof_after(judged_[{node, name}].losses) + Duration(kTrustSlack);
  const Instant good = std::max(*since, *since_there);
  if (now - good < takes) return;
  if (is_touched(ground_.plan, cable.segment, Instant{now.since_start - takes}, now, disturbs_pulses)) return;
  ground_.rules.broken(
      kRule, absl::StrCat(SimtestGround::name(node), " still does not trust ", name, ", which has been good for ",
                          in_ms(takes), " ms: ", pulses_of(node)->doubted().at(name).reason));
}

// Whether the node has known the cable for long enough, and trusts it.
bool PulseRules::is_settled(const std::string& name, std::size_t node) const {
  const NodePulses* const pulses = pulses_of(node);
  if (pulses == nullptr || pulses->doubted().contains(name)) return false;
  const std::optional<Instant> since = pulses->pulsed_since(name);
  return since.has_value() && ground_.clock().now() - *since > kKnownAfter;
}

// 100 ms with pulses every 10 ms, plus the allowance for stalls of busy hosts.
Duration PulseRules::bound(const Fault& silence) const {
  const Duration interval = ground_.plan.pulse;
  Duration stalls = ground_.plan.stalls;
  for (const Fault& fault : ground_.plan.faults) {
    if (fault.kind == FaultKind::kSlow && touches(ground_.plan, fault, target_in(ground_.plan, silence))) {
      stalls = std::max(stalls, longest_stall(fault.amount));
    }
  }
  return milliseconds(55) + 9 * interval / 2 + 5 * stalls;
}

void PulseRules::silence_begins(const Fault& fault) {
  const std::size_t segment = target_in(ground_.plan, fault);
  if (ground_.nodes.fabric().ends_of(segment).size() != 2) return;
  const std::string name = ground_.cable_name(segment, 0, 1);
  const Cable& cable = cables_.at(name);
  if (!is_settled(name, node_at(cable, 0)) || !is_settled(name, node_at(cable, 1))) return;
  const Duration within = bound(fault);
  const Instant now = ground_.clock().now();
  const Instant from = now.since_start > kRemembers ? Instant{now.since_start - kRemembers} : Instant{};
  const auto others = [&](const Fault& each) {
    return &each != &fault && each.kind != FaultKind::kSlow && disturbs_pulses(each);
  };
  const bool lasts = fault.lasts == Duration{0} || fault.lasts > within;
  if (!lasts || is_touched(ground_.plan, segment, from, now + within, others)) return;
  ground_.clock().post_at(now + within, [this, name, &cable, within] { check_silence(name, cable, within); });
}

void PulseRules::check_silence(const std::string& name, const Cable& cable, Duration since) {
  ++silences_checked_;
  for (const std::size_t end : {cable.a, cable.b}) {
    const std::size_t node = node_at(cable, end);
    const PortLost lost = lost_at(ground_, cable.segment, end, name);
    const bool flows =
        std::any_of(flows_.begin(), flows_.end(), [&](const auto& flow) { return flow->is_live_over(node, lost); });
    const char* still = nullptr;
    if (flows || ground_.processes[node]->relays_over(lost)) {
      still = " has circuits over ";
    } else if (pulses_of(node) == nullptr || !pulses_of(node)->doubted().contains(name)) {
      still = " trusts ";
    }
    if (still == nullptr) continue;
    ground_.rules.broken(kRule, absl::StrCat(SimtestGround::name(node), still, name, ", which has been silent for ",
                                             in_ms(since), " ms"));
  }
}

}  // namespace cableway::sim
