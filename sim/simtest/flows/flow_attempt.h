// One flow between two applications of a simulation test, as the two processes have it: what NCCL calls a connection.
// The source's end sets its circuits up; set-ups that arrive for it join its destination's end, begin it, or ask.
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_ATTEMPT_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_ATTEMPT_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "core/circuit/flow_admission.h"
#include "core/circuit/hop_reception.h"
#include "core/flow_circuits/flow_paths.h"
#include "sim/simtest/flows/destination_end.h"
#include "sim/simtest/flows/source_end.h"
#include "sim/simtest/ground/simtest_ground.h"

namespace cableway::sim {

class FlowAttempt {
 public:
  // What all attempts of a flow share.
  struct Applications {
    SimtestGround& ground;
    const FlowPlan& plan;
    std::size_t flow;
    std::vector<MessageRecord>& records;
    FlowAdmission& admission;  // of the destination's listener
    const bool& destination_lives;
    const bool& answers_are_lost;  // set-ups are cut off once the destination has accepted them
  };

  // The attempt's number, and the first message that it is for.
  FlowAttempt(const Applications& applications, std::size_t number, std::size_t first);

  void start() { source_.start(); }
  // A set-up for this attempt has arrived at one of the two processes.
  void arrived(ArrivedSetup setup);
  void kill_source();
  void kill_destination();
  // Gives a wrong verdict about a live circuit. 0: by its source, 1: by its destination, 2: by both.
  void misjudge(std::uint64_t by);

  Instant began() const { return began_; }
  const SourceEnd& source() const { return source_; }
  const DestinationEnd* destination() const { return destination_.get(); }
  void check_memory();
  // To be called from time to time.
  void tend() {
    if (destination_ != nullptr) destination_->tend();
  }
  // The paths of the source's node have changed.
  void paths_changed(Duration delay) { source_.paths_changed(delay); }
  // The node reports the lost port to its processes.
  void lose_port(std::size_t node, const PortLost& lost);
  // FlowEnd::is_live_over(), of its ends on the node.
  bool is_live_over(std::size_t node, const PortLost& cable) const;
  bool opened() const { return source_.joined() > 0; }
  // Whether one of its applications was dead at some time.
  bool lost_an_application() const { return lost_an_application_; }
  // Whether a relay of a path had no room, which may be temporary.
  bool found_no_room() const;
  // Whether it has ended because there was no path for as long as a flow waits for one.
  bool found_no_path() const;
  // Whether no end of it is left, and none will be added.
  bool over() const { return source_.over() && (destination_ == nullptr || destination_->over()); }

 private:
  FlowEnd::Place place(std::size_t node) const;
  void answer_inquiry(ArrivedSetup inquiry);
  bool destination_knows() const;
  void begin_flow(ArrivedSetup setup);
  void join_flow(ArrivedSetup setup);

  const Applications applications_;
  const std::size_t first_;
  const Instant began_;
  const FlowIdentity identity_;
  SourceEnd source_;
  std::unique_ptr<DestinationEnd> destination_;
  bool lost_an_application_ = false;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_FLOW_ATTEMPT_H_
