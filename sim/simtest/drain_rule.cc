#include "sim/simtest/drain_rule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cableway::sim {
namespace {

// A flow looks for its best path 300 ms after a change, sets a circuit up there, and ends the old one 3 s later; if it
// cannot do so at once, it looks again after 2 s.
constexpr std::chrono::seconds kLeavesWithin{8};
constexpr std::size_t kRoom = 256;

bool only_drains(const FaultPlan& plan) {
  return std::all_of(plan.begin(), plan.end(), [](const Fault& fault) {
    return fault.kind == FaultKind::kDrainCable || fault.kind == FaultKind::kDrift || fault.kind == FaultKind::kReplay;
  });
}

}  // namespace

DrainRule::DrainRule(SimtestGround& ground, const NodeRules& nodes,
                     const std::vector<std::unique_ptr<SimtestFlow>>& flows)
    : ground_(ground),
      nodes_(nodes),
      flows_(flows),
      binds_(only_drains(ground.plan.faults) && ground.plan.max_circuits >= kRoom) {}

std::set<std::string> DrainRule::all_draining() const {
  std::set<std::string> all;
  for (std::size_t node = 0; node < ground_.nodes.size(); ++node) {
    if (!ground_.nodes.runs(node)) continue;
    const std::set<std::string>& here = ground_.nodes.node(node).draining_cables();
    all.insert(here.begin(), here.end());
  }
  return all;
}

void DrainRule::check() {
  const std::set<std::string> draining = all_draining();
  if (draining.empty()) return since_.clear();
  const Instant now = ground_.clock().now();
  for (std::size_t number = 0; number < flows_.size(); ++number) {
    const SimtestFlow& flow = *flows_[number];
    for (const std::string& cable : draining) {
      const bool stays =
          flow.live_path_over(cable) != nullptr && nodes_.reaches(flow.plan().source, flow.plan().destination);
      if (!stays) {
        since_.erase({number, cable});
        continue;
      }
      const Duration stayed = now - since_.try_emplace({number, cable}, now).first->second;
      longest_ = std::max(longest_, stayed);
      if (!binds_ || stayed < Duration(kLeavesWithin)) continue;
      ground_.rules.broken(
          3, absl::StrCat("flow ", number, " has another path, and has had a circuit over draining cable ", cable,
                          " for ", std::chrono::duration_cast<std::chrono::milliseconds>(stayed).count(), " ms"));
    }
  }
  std::erase_if(since_, [&](const auto& each) { return !draining.contains(each.first.second); });
}

}  // namespace cableway::sim
