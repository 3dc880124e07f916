// A world on trial: real nodes over a fabric, circuits over the same cables, applications at both ends of each flow,
// and what goes wrong. One thread; everything in it follows from its plan.
#ifndef CABLEWAY_SIM_TRIAL_TRIAL_WORLD_H_
#define CABLEWAY_SIM_TRIAL_TRIAL_WORLD_H_

#include <memory>
#include <optional>
#include <vector>

#include "core/keyed_seal.h"
#include "sim/trial/fault_player.h"
#include "sim/trial/node_rules.h"
#include "sim/trial/trial_flow.h"
#include "sim/trial/trial_run.h"

namespace cableway::sim {

class TrialWorld {
 public:
  // `plan` outlives this.
  explicit TrialWorld(const TrialPlan& plan);

  TrialResult run();

 private:
  void build_nodes();
  void build_switch();
  void build_rdma();
  void build_hosts();
  bool flows_are_over() const;
  bool rests();
  void tend();
  void look_at_rest();

  const TrialPlan& plan_;
  TraceHash trace_;
  std::optional<KeyedSeal> seal_;
  NodeWorld nodes_;
  RuleBook rules_;
  std::unique_ptr<CablePlant> plant_;
  std::vector<TrialHost> hosts_;
  std::unique_ptr<TrialGround> ground_;
  std::unique_ptr<NodeRules> node_rules_;
  std::vector<std::unique_ptr<TrialFlow>> flows_;
  std::unique_ptr<FaultPlayer> faults_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_TRIAL_TRIAL_WORLD_H_
