// The messages of a simulation test from one node's application to another's, over one flow after another. When a flow
// fails, its unfinished messages fail, and the applications open the next one, which continues with the next message.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_SIMTEST_FLOW_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_SIMTEST_FLOW_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/circuit/flow_admission.h"
#include "sim/simtest/flows/flow_attempt.h"

namespace cableway::sim {

class SimtestFlow {
 public:
  // `calm_at`: when all faults are over and detected; from then on every failure needs a reason. `reaches`: whether the
  // actual state of the cables gives the source a path to the destination.
  SimtestFlow(SimtestGround& ground, const FlowPlan& plan, std::size_t number, Instant calm_at,
              std::function<bool(std::size_t, std::size_t)> reaches);
  ~SimtestFlow();

  void start();
  // An application is killed, and restarts later.
  void kill_source();
  void kill_destination();
  void revive_source();
  void revive_destination();
  // Calls FlowAttempt::misjudge() of the present attempt.
  void misjudge(std::uint64_t by);
  // Whether set-ups are cut off from now on once the destination has accepted them.
  void lose_answers(bool lost) { answers_are_lost_ = lost; }
  // A set-up for this flow has arrived at a process of one of its applications.
  void arrived(ArrivedSetup setup);
  void tend();
  // The paths of this node have changed.
  void paths_changed(std::size_t node);

  // A node reports to its processes that a port, or one cable of it, is lost.
  void lose_port(std::size_t node, const PortLost& lost);
  // FlowEnd::is_live_over(), of its ends on the node.
  bool is_live_over(std::size_t node, const PortLost& cable) const;
  // FlowEnd::live_path_over(), of its source.
  const std::vector<Hop>* live_path_over(const std::string& cable) const;

  // Every message is done at both ends or has failed, and no end is left.
  bool over() const;
  std::string describe_unfinished() const;
  void check_memory();

  const FlowPlan& plan() const { return plan_; }
  const std::vector<MessageRecord>& records() const { return records_; }
  // The number of attempts so far, and the newest one; null: there was none.
  std::size_t attempts() const { return attempts_.size(); }
  const FlowAttempt* attempt() const { return attempts_.empty() ? nullptr : attempts_.back().get(); }
  std::size_t done() const;
  std::size_t failed() const;
  // The bytes of the messages that are done.
  std::uint64_t bytes_done() const;
  // The number of circuits dialed.
  std::size_t circuits() const;

 private:
  void try_now();
  void try_later();
  void attempt_ended();
  bool is_impersonated(const FlowAttempt& attempt) const;
  void check_reason(const FlowAttempt& attempt);
  void fail_rest();
  std::size_t next_message() const;

  SimtestGround& ground_;
  const FlowPlan& plan_;
  const std::size_t number_;
  const Instant calm_at_;
  const std::function<bool(std::size_t, std::size_t)> reaches_;
  FlowAdmission admission_;  // of the destination's listener
  std::vector<MessageRecord> records_;
  std::vector<std::unique_ptr<FlowAttempt>> attempts_;
  std::uint32_t tries_in_calm_ = 0;
  bool source_lives_ = true;
  bool destination_lives_ = true;
  bool answers_are_lost_ = false;
  bool waits_to_try_ = false;
  bool given_up_ = false;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_SIMTEST_FLOW_H_
