// Checks flows that an adversary does not reach: their circuits do not fail, and they do not stall.
#ifndef CABLEWAY_SIM_SIMTEST_UNREACHED_FLOWS_H_
#define CABLEWAY_SIM_SIMTEST_UNREACHED_FLOWS_H_

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/simtest/flows/flow_progress.h"
#include "sim/simtest/flows/simtest_flow.h"
#include "sim/simtest/ground/simtest_ground.h"

namespace cableway::sim {

// What an adversary may hurt. Parties that are no nodes of the world, and paths through them, count as well.
struct AdversaryReach {
  std::set<std::size_t> nodes;
  std::set<std::string> cables;
};

class UnreachedFlows {
 public:
  // All arguments outlive this. `cause` ends the messages of broken rules: "although ..".
  UnreachedFlows(SimtestGround& ground, const std::vector<std::unique_ptr<SimtestFlow>>& flows, int rule,
                 std::string cause);

  // To be called at regular intervals while the world runs.
  void check(const AdversaryReach& reach);
  void circuit_failed(const FailedCircuit& circuit, const AdversaryReach& reach);

 private:
  struct Watch {
    std::size_t attempt = 0;
    FlowProgress progress;
    Instant since;  // of the progress
    bool is_reached = true;
  };

  bool is_reached(std::size_t flow, const std::vector<Hop>& path, const AdversaryReach& reach) const;
  bool is_reached_now(std::size_t flow, const AdversaryReach& reach) const;

  SimtestGround& ground_;
  const std::vector<std::unique_ptr<SimtestFlow>>& flows_;
  const int rule_;
  const std::string cause_;
  std::vector<Watch> watches_;  // by flow
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_UNREACHED_FLOWS_H_
