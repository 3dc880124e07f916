// Makes the faults of a plan happen, each at its time, and end. Several may be at work on one thing: what it is like is
// always worked out again from all that are.
#ifndef CABLEWAY_SIM_SIMTEST_FAULT_PLAYER_H_
#define CABLEWAY_SIM_SIMTEST_FAULT_PLAYER_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/simtest/drifting_clock.h"
#include "sim/simtest/flows/simtest_flow.h"
#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/node_rules.h"

namespace cableway::sim {

class FaultPlayer {
 public:
  // Before the first node starts. A target that does not exist counts from the first one on again, so that a plan stays
  // one for a smaller world.
  FaultPlayer(SimtestGround& ground, NodeRules& rules, std::vector<std::unique_ptr<SimtestFlow>>& flows);

  // Starts nodes, and everything else in its time.
  void start();
  // When the last one that ends has ended.
  Instant last_end() const;
  // When all of it is over and every node had time to find out.
  Instant calm() const;

 private:
  struct Down {
    bool crashed = false;
    bool off = false;
    bool left = false;
    bool any() const { return crashed || off || left; }
  };

  void begin(const Fault& fault);
  void end(const Fault& fault);
  void update(const Fault& fault);
  void update_cable(std::size_t cable);
  void update_node(std::size_t node);
  void take_down(std::size_t node, const Down& down);
  void bring_up(std::size_t node);
  void set_applications(std::size_t node, bool live);
  bool at_work(const Fault& fault) const;
  std::size_t target(const Fault& fault) const;
  bool has_carrier(std::size_t cable) const;

  SimtestGround& ground_;
  NodeRules& rules_;
  std::vector<std::unique_ptr<SimtestFlow>>& flows_;
  const FaultPlan& plan_;
  std::vector<std::unique_ptr<DriftingClock>> clocks_;
  std::vector<Down> down_;     // by node, as it is now
  std::vector<bool> carrier_;  // by segment, as it is now
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FAULT_PLAYER_H_
