#include "sim/simtest/plan/fault_reach.h"

#include <algorithm>

namespace cableway::sim {
namespace {

// Delays up to this are less than the time between two pulses.
constexpr std::uint64_t kLittleDelayUs = 10'000;

}  // namespace

std::vector<std::uint32_t> nodes_on(const ShapePlan& shape, std::size_t segment) {
  if (segment >= shape.cables.size()) return shape.switch_members;
  return {shape.cables[segment].a, shape.cables[segment].b};
}

std::size_t target_in(const SimtestPlan& plan, const Fault& fault) {
  return fault.target % target_count(plan, fault.kind);
}

bool touches(const SimtestPlan& plan, const Fault& fault, std::size_t segment) {
  // Who lies may change any node's paths.
  if (fault.kind == FaultKind::kLie) return true;
  const std::vector<std::uint32_t> nodes = nodes_on(plan.shape, segment);
  switch (target_of(fault.kind)) {
    case FaultTarget::kCable:
      return target_in(plan, fault) == segment;
    case FaultTarget::kNode:
      return std::find(nodes.begin(), nodes.end(), target_in(plan, fault)) != nodes.end();
    case FaultTarget::kFlow:
      return false;
    case FaultTarget::kNone:
      break;
  }
  const auto side = [&](std::uint32_t node) { return fault.amount >> (node % 64) & 1; };
  return std::any_of(nodes.begin(), nodes.end(), [&](std::uint32_t node) { return side(node) != side(nodes.front()); });
}

bool is_at_work(const Fault& fault, Instant from, Instant until) {
  if (Instant{fault.at} > until) return false;
  return fault.lasts == Duration{0} || Instant{fault.end()} >= from;
}

bool acts_or_acted(const Fault& fault, Instant now) {
  return Instant{fault.at} <= now && (fault.lasts == Duration{0} || now < Instant{fault.end() + kHurtsFor});
}

bool may_stop_pulses(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kSilence:
    case FaultKind::kPartition:
    case FaultKind::kLoss:
    case FaultKind::kBurst:
    case FaultKind::kCorrupt:
    case FaultKind::kQueue:
    case FaultKind::kPower:
    case FaultKind::kStop:
      return true;
    case FaultKind::kDelay:
    case FaultKind::kJitter:
      return fault.amount > kLittleDelayUs;
    default:
      return false;
  }
}

bool disturbs_pulses(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kDelay:
    case FaultKind::kJitter:
    case FaultKind::kCut:
    case FaultKind::kFlap:
    case FaultKind::kLarge:
    case FaultKind::kHold:
    case FaultKind::kCrash:
    case FaultKind::kLeave:
    case FaultKind::kSlow:
      return true;
    default:
      return may_stop_pulses(fault);
  }
}

bool is_touched(const SimtestPlan& plan, std::size_t segment, Instant from, Instant until,
                const std::function<bool(const Fault&)>& counts) {
  return std::any_of(plan.faults.begin(), plan.faults.end(), [&](const Fault& fault) {
    return counts(fault) && is_at_work(fault, from, until) && touches(plan, fault, segment);
  });
}

std::optional<std::size_t> namesake_of(const SimtestPlan& plan, const Fault& fault) {
  const Lies lies(fault.amount);
  if (fault.kind != FaultKind::kLie || !lies.has(Lies::kNamesake) || plan.shape.nodes < 3) return std::nullopt;
  return lies.every_us % plan.shape.nodes;
}

}  // namespace cableway::sim
