// What the parts of a trial share: nodes, cables, hosts, what is written down of the run.
#ifndef CABLEWAY_SIM_TRIAL_TRIAL_GROUND_H_
#define CABLEWAY_SIM_TRIAL_TRIAL_GROUND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/node_world.h"
#include "sim/relay_host.h"
#include "sim/stub_relay_memory.h"
#include "sim/trial/cable_plant.h"
#include "sim/trial/rules.h"
#include "sim/trial/trace_hash.h"
#include "sim/trial/trial_plan.h"

namespace cableway::sim {

// What is on a node besides the node itself (core/node.h).
struct TrialHost {
  std::unique_ptr<RelayHost> relay;
  std::unique_ptr<StubRelayMemory> rdma;  // null: it has no RDMA device
  bool refuses = false;                   // set-ups that want to pass
  Duration application_takes{0};          // between being woken and looking

  std::size_t leased() const { return relay->pool().leased() + (rdma != nullptr ? rdma->pool().leased() : 0); }
};

struct TrialGround {
  const TrialPlan& plan;
  NodeWorld& nodes;
  CablePlant& plant;
  std::vector<TrialHost>& hosts;
  TraceHash& trace;
  RuleBook& rules;

  VirtualClock& clock() const { return nodes.clock(); }
  static std::string name(std::size_t node) { return "n" + std::to_string(node); }
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_TRIAL_TRIAL_GROUND_H_
