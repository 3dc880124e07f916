// Checks that a flow which loses a circuit to a lost carrier, and has another one, goes on within 100 ms: that its
// oldest message which is posted at both ends moves (docs/decisions/0017).
//
// Checked where the loss alone explains what happens: it is reported at once to both nodes of the cable, no other fault
// was at work on the flow's paths lately, and the queues of the paths left are short.
#ifndef CABLEWAY_SIM_SIMTEST_STALL_RULE_H_
#define CABLEWAY_SIM_SIMTEST_STALL_RULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sim/simtest/flows/flow_progress.h"
#include "sim/simtest/flows/simtest_flow.h"
#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/plan/fault.h"

namespace cableway::sim {

class StallRule {
 public:
  // Everything outlives it.
  StallRule(SimtestGround& ground, const std::vector<std::unique_ptr<SimtestFlow>>& flows);

  // Schedules a look at the flows right before each loss. To be called before the faults are scheduled.
  void start();
  // To be called every 10 ms of virtual time: a stall may be measured up to 10 ms too short.
  void check();

  // Losses after which a flow had something to move.
  std::uint64_t checked() const { return checked_; }
  Duration longest() const { return longest_; }

 private:
  struct Watch {
    std::size_t flow = 0;
    std::size_t attempt = 0;
    std::size_t segment = 0;  // of the cable
    Instant until;
    Instant since;  // of its last progress
    FlowProgress progress;
    std::size_t done = 0;  // messages, before the loss
    bool counts = false;
  };

  void loses_carrier(const Fault& fault);
  bool is_told(const Fault& fault) const;
  bool is_to_go_on(const SimtestFlow& flow, std::size_t number, std::size_t segment, const Fault& fault) const;
  bool are_short(const std::vector<std::vector<std::size_t>>& ways, const Fault& fault) const;
  // Segments in the order of the path.
  std::vector<std::size_t> way_of(const std::vector<Hop>& path) const;
  bool is_one_wire(std::size_t segment) const;
  // Returns whether the watch is over.
  bool look_at(Watch& watch);

  SimtestGround& ground_;
  const std::vector<std::unique_ptr<SimtestFlow>>& flows_;
  std::vector<Watch> watches_;
  std::uint64_t checked_ = 0;
  Duration longest_{0};
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_STALL_RULE_H_
