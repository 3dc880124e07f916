// Rule 12: an insider affects only paths through itself and the nodes that it names, while it lies and 5 s longer:
// other cables stay in the topology, other circuits do not end, other flows do not stall. Checked in worlds where
// nothing else is wrong.
#ifndef CABLEWAY_SIM_SIMTEST_LIE_RULE_H_
#define CABLEWAY_SIM_SIMTEST_LIE_RULE_H_

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/hostile/liar.h"
#include "sim/simtest/node_rules.h"
#include "sim/simtest/unreached_flows.h"

namespace cableway::sim {

class LieRule {
 public:
  LieRule(SimtestGround& ground, NodeRules& nodes, const std::vector<std::unique_ptr<SimtestFlow>>& flows,
          const std::vector<std::unique_ptr<Liar>>& liars);

  void start();
  // To be called at regular intervals while the world runs.
  void check();
  void circuit_failed(const FailedCircuit& circuit);

 private:
  bool binds() const;
  Instant over() const;
  std::set<std::size_t> hurt() const;

  SimtestGround& ground_;
  NodeRules& nodes_;
  const std::vector<std::unique_ptr<Liar>>& liars_;
  UnreachedFlows flows_;
  std::vector<std::set<std::string>> known_;  // by node: cables that it has known
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_LIE_RULE_H_
