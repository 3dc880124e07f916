// One circuit of a simulation test, as the source's process sets it up: with the product's own code, from the request
// for a path (core/circuit/path_wait.h) through the path's nodes (sim/simtest/ground/node_process.h) to the
// destination's process.
//
//   path -> set-up, hop by hop -> the destination accepts -> the answer, hop by hop back -> open
#ifndef CABLEWAY_SIM_SIMTEST_FLOWS_SIMTEST_CIRCUIT_H_
#define CABLEWAY_SIM_SIMTEST_FLOWS_SIMTEST_CIRCUIT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop_dial.h"
#include "sim/simtest/ground/simtest_ground.h"

namespace cableway::sim {

class SimtestCircuit {
 public:
  // The source's application.
  class Source {
   public:
    virtual ~Source() = default;
    virtual void open(const PlantEnd& end, std::uint32_t chunk_bytes) = 0;
    virtual void refused(const absl::Status& reason) = 0;
  };

  // All arguments outlive this; this outlives the clock's last callback. `flow` is the flow's number, `attempt` the
  // circuit's number within the flow.
  SimtestCircuit(SimtestGround& ground, std::size_t flow, std::size_t attempt, Source& source);

  // Requests a path from the source's node and starts dialing.
  void set_up();
  // The source gives the circuit up.
  void abandon(const absl::Status& reason);
  // That node's process has ended, and does not answer any more.
  void node_ended(std::size_t node);

  // The destination's secret, which the source has received.
  static Cookie cookie_of(std::uint64_t flow);
  // The attempt that a set-up belongs to.
  static std::size_t attempt_of(const CircuitSetup& setup);
  // For this circuit's set-up as it arrives at the destination. Internal: a relay of its path did not reserve a tenth
  // of the time for the answer to travel back, or it waited and did not subtract that.
  absl::Status check_budget(const CircuitSetup& setup) const;

 private:
  enum class State : std::uint8_t { kNew, kAsking, kDialing, kOpen, kOver };

  void have_path(absl::StatusOr<std::vector<Hop>> hops);
  absl::Status check_path() const;
  bool may_have_been_held() const;
  void dialed(absl::StatusOr<OpenHop> hop);
  void fail(const absl::Status& reason);

  SimtestGround& ground_;
  const FlowPlan& flow_;
  Source& source_;
  State state_ = State::kNew;
  CircuitSetup setup_;
  Instant dialed_at_;
  std::unique_ptr<HopDial> dial_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FLOWS_SIMTEST_CIRCUIT_H_
