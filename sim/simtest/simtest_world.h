// The world of a simulation test: real nodes over a fabric, circuits over the same cables, applications at both ends of
// each flow, and faults. Single-threaded and fully determined by its plan.
#ifndef CABLEWAY_SIM_SIMTEST_SIMTEST_WORLD_H_
#define CABLEWAY_SIM_SIMTEST_SIMTEST_WORLD_H_

#include <memory>
#include <optional>
#include <vector>

#include "core/crypto/keyed_seal.h"
#include "sim/simtest/drain_rule.h"
#include "sim/simtest/fault_player.h"
#include "sim/simtest/flows/simtest_flow.h"
#include "sim/simtest/ground/cable_plant.h"
#include "sim/simtest/ground/node_process.h"
#include "sim/simtest/ground/process_means.h"
#include "sim/simtest/ground/sim_transport.h"
#include "sim/simtest/hostile/liar.h"
#include "sim/simtest/lie_rule.h"
#include "sim/simtest/node_rules.h"
#include "sim/simtest/outsider_rule.h"
#include "sim/simtest/pulse_rules.h"
#include "sim/simtest/simtest_run.h"
#include "sim/simtest/stall_rule.h"

namespace cableway::sim {

class SimtestWorld {
 public:
  // `plan` outlives this.
  explicit SimtestWorld(const SimtestPlan& plan);

  SimtestResult run(const SimtestProgress& progress);

 private:
  void build_nodes();
  void build_switch();
  void build_liars();
  void build_hosts();
  void build_processes();
  NodeTells told();
  bool flows_are_over() const;
  bool rests();
  void tend();
  SimtestResult result();
  void check_at_end();
  void check_memory();

  const SimtestPlan& plan_;
  TraceHash trace_;
  std::vector<std::unique_ptr<KeyedSeal>> seals_;  // of nodes half-way through a change of the key; empty: no key
  NodeWorld nodes_;
  RuleBook rules_;
  std::vector<std::unique_ptr<Liar>> liars_;
  std::vector<std::unique_ptr<SimTransport>> transports_;
  std::unique_ptr<CablePlant> plant_;
  std::vector<SimtestHost> hosts_;
  std::optional<PortShares> port_shares_;
  std::unique_ptr<SetupTools> tools_;
  std::vector<std::unique_ptr<SimConnector>> connectors_;  // by node
  std::vector<std::unique_ptr<SetupDoor>> applications_;   // by node
  std::vector<std::unique_ptr<NodeProcess>> processes_;    // by node
  std::vector<std::unique_ptr<ProcessMeans>> means_;       // by node
  std::unique_ptr<SimtestGround> ground_;
  std::unique_ptr<NodeRules> node_rules_;
  std::vector<std::unique_ptr<SimtestFlow>> flows_;
  std::unique_ptr<FaultPlayer> faults_;
  std::unique_ptr<PulseRules> pulse_rules_;
  std::unique_ptr<DrainRule> drain_rule_;
  std::unique_ptr<StallRule> stall_rule_;
  std::unique_ptr<LieRule> lie_rule_;
  std::unique_ptr<OutsiderRule> outsider_rule_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_SIMTEST_WORLD_H_
