#include "sim/simtest/outsider_rule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/simtest/plan/fault_reach.h"

namespace cableway::sim {
namespace {

constexpr int kOutsiderRule = 13;
constexpr char kOnlyOutsider[] = "a party without the key acts";
constexpr std::chrono::seconds kSettlesWithin{5};

bool only_outsiders(const FaultPlan& plan) {
  return std::all_of(plan.begin(), plan.end(), [](const Fault& fault) {
    return fault.kind == FaultKind::kReplay || fault.kind == FaultKind::kHold || fault.kind == FaultKind::kDrift;
  });
}

// What a datagram that was changed on its way may look like: any party can forge these.
bool may_be_changed(EventCode code) {
  return code == EventCode::kVersionDiffers || code == EventCode::kClusterDiffers || code == EventCode::kKeyDiffers;
}

// What two ports find that are on different cables, and on one wire.
bool may_be_joined(EventCode code) {
  return code == EventCode::kCableRefused || code == EventCode::kCableToSelf;
}

bool is_of_a_lost_cable(EventCode code) {
  switch (code) {
    case EventCode::kLargePacketsLost:
    case EventCode::kCableUp:
    case EventCode::kCableLost:
      return true;
    default:
      return false;
  }
}

// Neighbours, cables and the topology.
bool is_about_others(EventCode code) {
  return code >= EventCode::kVersionDiffers && code <= EventCode::kTopologyCrowded;
}

}  // namespace

OutsiderRule::OutsiderRule(SimtestGround& ground, const NodeRules& nodes,
                           const std::vector<std::unique_ptr<SimtestFlow>>& flows)
    : ground_(ground),
      nodes_(nodes),
      binds_(only_outsiders(ground.plan.faults) && ground.plan.ends == Duration{0}),
      flows_(ground, flows, kOutsiderRule, kOnlyOutsider) {}

std::vector<const Fault*> OutsiderRule::acting(FaultKind kind) const {
  std::vector<const Fault*> acting;
  for (const Fault& fault : ground_.plan.faults) {
    if (fault.kind == kind && acts_or_acted(fault, ground_.clock().now())) acting.push_back(&fault);
  }
  return acting;
}

bool OutsiderRule::is_on(const Fault& fault, std::size_t node) const {
  const std::vector<std::uint32_t> nodes = nodes_on(ground_.plan.shape, target_in(ground_.plan, fault));
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// Whether what is played into two cables may make them one wire, as a party that carries packets between them does
// (docs/security.md).
bool OutsiderRule::joins_cables() const {
  const std::vector<const Fault*> replays = acting(FaultKind::kReplay);
  return std::any_of(replays.begin(), replays.end(), [&](const Fault* replay) {
    return target_in(ground_.plan, *replay) != target_in(ground_.plan, *replays.front());
  });
}

std::set<std::string> OutsiderRule::held_cables() const {
  std::set<std::string> cables;
  for (const Fault* hold : acting(FaultKind::kHold)) {
    const std::size_t segment = target_in(ground_.plan, *hold);
    const std::size_t ends = ground_.nodes.fabric().ends_of(segment).size();
    for (std::size_t b = 0; b < ends; ++b) {
      for (std::size_t a = 0; a < b; ++a) cables.insert(ground_.cable_name(segment, a, b));
    }
  }
  return cables;
}

bool OutsiderRule::is_excused(std::size_t node, EventCode code) const {
  const auto is_here = [&](const Fault* fault) { return is_on(*fault, node); };
  const std::vector<const Fault*> replays = acting(FaultKind::kReplay);
  if (std::any_of(replays.begin(), replays.end(), is_here)) {
    if (may_be_changed(code)) return true;  // a quarter has been
    if (may_be_joined(code) && joins_cables()) return true;
  }
  const std::vector<const Fault*> holds = acting(FaultKind::kHold);
  if (code == EventCode::kTopologyChanged) return !holds.empty();
  return is_of_a_lost_cable(code) && std::any_of(holds.begin(), holds.end(), is_here);
}

void OutsiderRule::event(std::size_t node, const Event& event) {
  if (!binds_ || !settled_ || !is_about_others(event.code) || is_excused(node, event.code)) return;
  ground_.rules.broken(kOutsiderRule,
                       absl::StrCat(SimtestGround::name(node), " raises ", std::string(name_of(event.code)),
                                    " although only ", kOnlyOutsider, ": ", event.text));
}

void OutsiderRule::check() {
  if (!binds_) return;
  const std::set<std::string> held = held_cables();
  if (settled_ || ground_.clock().now() >= Instant{kSettlesWithin}) {
    settled_ = true;
    check_topologies(held);
  } else {
    settled_ = all_have_the_topology(held);
  }
  flows_.check({{}, held});
}

bool OutsiderRule::all_have_the_topology(const std::set<std::string>& except) const {
  for (std::size_t node = 0; node < ground_.nodes.size(); ++node) {
    if (!ground_.nodes.runs(node) || !nodes_.difference(node, except).none()) return false;
  }
  return true;
}

void OutsiderRule::check_topologies(const std::set<std::string>& except) {
  for (std::size_t node = 0; node < ground_.nodes.size(); ++node) {
    const NodeRules::Difference difference = nodes_.difference(node, except);
    if (difference.none()) continue;
    ground_.rules.broken(kOutsiderRule,
                         absl::StrCat(SimtestGround::name(node), " has a wrong topology although only ", kOnlyOutsider,
                                      "; missing cables: ", absl::StrJoin(difference.missing, " "),
                                      "; extra cables: ", absl::StrJoin(difference.extra, " ")));
  }
}

void OutsiderRule::circuit_failed(const FailedCircuit& circuit) {
  if (binds_) flows_.circuit_failed(circuit, {{}, held_cables()});
}

}  // namespace cableway::sim
