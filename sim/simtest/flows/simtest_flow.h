// One flow of a simulation test: messages from one node's application to another's, over one circuit after the other
// where they fail. A message whose circuit failed has failed; the next circuit goes on with the next one.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_SIMTEST_FLOW_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_SIMTEST_FLOW_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/simtest/flows/flow_ends.h"
#include "sim/simtest/flows/simtest_circuit.h"

namespace cableway::sim {

class SimtestFlow {
 public:
  // `calm_at`: when everything that goes wrong is over, and known to be: from then on nothing may fail for no reason.
  // `reaches`: whether the source can have a path to the destination, in truth.
  SimtestFlow(SimtestGround& ground, const FlowPlan& plan, std::size_t number, Instant calm_at,
              std::function<bool(std::size_t, std::size_t)> reaches);
  ~SimtestFlow();

  void start();
  // An application dies, and is there again later.
  void kill_source();
  void kill_destination();
  void revive_source();
  void revive_destination();
  void node_ended(std::size_t node);
  // A set-up of its has come to the destination's process.
  void arrived(ArrivedSetup setup);
  void tend();

  // Every message is done at both ends, or has failed, and no end is left.
  bool over() const;
  std::string what_is_left() const;
  void check_memory();

  const FlowPlan& plan() const { return plan_; }
  std::size_t done() const;
  std::size_t failed() const;
  std::size_t circuits() const { return attempts_.size(); }

 private:
  class Attempt;

  void try_now();
  void try_later();
  void attempt_ended();
  void check_reason(Attempt& attempt);
  void fail_rest();
  std::size_t next_message() const;

  SimtestGround& ground_;
  const FlowPlan& plan_;
  const std::size_t number_;
  const Instant calm_at_;
  const std::function<bool(std::size_t, std::size_t)> reaches_;
  std::vector<MessageRecord> records_;
  std::vector<std::unique_ptr<Attempt>> attempts_;
  std::uint32_t tries_in_calm_ = 0;
  bool source_lives_ = true;
  bool destination_lives_ = true;
  bool waits_to_try_ = false;
  bool given_up_ = false;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_SIMTEST_FLOW_H_
