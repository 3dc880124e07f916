// Rule 13: a party without the key changes nothing but counters, and hurts only the cable whose datagrams it holds
// back. Checked in worlds where nothing else is wrong, and where nothing is wrong at all: once all nodes have the true
// topology they keep it, and no node finds a problem with its neighbours, its cables or the topology; no circuit ends,
// and no flow stalls.
#ifndef CABLEWAY_SIM_SIMTEST_OUTSIDER_RULE_H_
#define CABLEWAY_SIM_SIMTEST_OUTSIDER_RULE_H_

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/event/event.h"
#include "sim/simtest/flows/simtest_flow.h"
#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/node_rules.h"
#include "sim/simtest/unreached_flows.h"

namespace cableway::sim {

class OutsiderRule {
 public:
  // All arguments outlive this.
  OutsiderRule(SimtestGround& ground, const NodeRules& nodes, const std::vector<std::unique_ptr<SimtestFlow>>& flows);

  // To be called at regular intervals while the world runs.
  void check();
  // A node has raised an event.
  void event(std::size_t node, const Event& event);
  void circuit_failed(const FailedCircuit& circuit);

 private:
  bool is_excused(std::size_t node, EventCode code) const;
  std::vector<const Fault*> acting(FaultKind kind) const;
  bool is_on(const Fault& fault, std::size_t node) const;
  bool joins_cables() const;
  std::set<std::string> held_cables() const;
  bool all_have_the_topology(const std::set<std::string>& except) const;
  void check_topologies(const std::set<std::string>& except);

  SimtestGround& ground_;
  const NodeRules& nodes_;
  const bool binds_;
  bool settled_ = false;  // all nodes have had the true topology
  UnreachedFlows flows_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_OUTSIDER_RULE_H_
