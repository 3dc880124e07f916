// Checks that no flow stays on a cable that drains, where it has another path (docs/decisions/0020).
#ifndef CABLEWAY_SIM_SIMTEST_DRAIN_RULE_H_
#define CABLEWAY_SIM_SIMTEST_DRAIN_RULE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/simtest/flows/simtest_flow.h"
#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/node_rules.h"

namespace cableway::sim {

class DrainRule {
 public:
  // All arguments outlive this.
  DrainRule(SimtestGround& ground, const NodeRules& nodes, const std::vector<std::unique_ptr<SimtestFlow>>& flows);

  // To be called at regular intervals while the world runs.
  void check();
  // The longest that a circuit of a flow with another path has led over a cable that drained.
  Duration longest() const { return longest_; }

 private:
  std::set<std::string> all_draining() const;

  SimtestGround& ground_;
  const NodeRules& nodes_;
  const std::vector<std::unique_ptr<SimtestFlow>>& flows_;
  const bool binds_;                                              // nothing but drains happens, and relays have room
  std::map<std::pair<std::size_t, std::string>, Instant> since_;  // by flow and cable
  Duration longest_{0};
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_DRAIN_RULE_H_
