#include "sim/simtest/lie_rule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/simtest/plan/fault_reach.h"

namespace cableway::sim {
namespace {

constexpr int kLieRule = 12;

}  // namespace

LieRule::LieRule(SimtestGround& ground, NodeRules& nodes, const std::vector<std::unique_ptr<SimtestFlow>>& flows,
                 const std::vector<std::unique_ptr<Liar>>& liars)
    : ground_(ground),
      nodes_(nodes),
      liars_(liars),
      flows_(ground, flows, kLieRule, "a party that is not on it and names none of its nodes lies"),
      known_(ground.nodes.size()) {}

bool LieRule::binds() const {
  return !liars_.empty() && std::all_of(ground_.plan.faults.begin(), ground_.plan.faults.end(), [](const Fault& fault) {
    return fault.kind == FaultKind::kLie || fault.kind == FaultKind::kDrift;
  });
}

Instant LieRule::over() const {
  Instant over;
  for (const std::unique_ptr<Liar>& liar : liars_) over = std::max(over, Instant{liar->fault().end() + kHurtsFor});
  return over;
}

// The nodes that have been named, until the insiders' effects have to be over.
std::set<std::size_t> LieRule::hurt() const {
  std::set<std::size_t> named;
  if (ground_.clock().now() >= over()) return named;
  for (const std::unique_ptr<Liar>& liar : liars_) named.insert(liar->named().begin(), liar->named().end());
  return named;
}

void LieRule::start() {
  if (!binds()) return;
  ground_.clock().post_at(over(), [this] {
    for (std::size_t node = 0; node < known_.size(); ++node) nodes_.check_topology(node);
  });
}

void LieRule::check() {
  if (!binds()) return;
  const std::set<std::size_t> hurt = this->hurt();
  for (std::size_t node = 0; node < known_.size(); ++node) {
    if (!ground_.nodes.runs(node) || hurt.contains(node)) continue;
    const NodeRules::Sight sight = nodes_.sight(node, hurt);
    for (const std::string& cable : sight.missing) {
      if (!known_[node].contains(cable)) continue;
      ground_.rules.broken(kLieRule, absl::StrCat(SimtestGround::name(node), " has lost cable ", cable,
                                                  " although only a party that neither owns nor names its nodes lies"));
    }
    known_[node].insert(sight.known.begin(), sight.known.end());
  }
  flows_.check({hurt, {}});
}

void LieRule::circuit_failed(const FailedCircuit& circuit) {
  if (binds()) flows_.circuit_failed(circuit, {hurt(), {}});
}

}  // namespace cableway::sim
