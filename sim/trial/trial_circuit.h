// One circuit of a trial, from the set-up that looks for its way to the last relay that forgets it. What decides is the
// nodes' own code: the source's paths, each relay's check of the set-up; here is what carries it from node to node.
//
//   path -> set-up, hop by hop -> the destination accepts -> the answer, hop by hop back -> open -> over
#ifndef CABLEWAY_SIM_TRIAL_TRIAL_CIRCUIT_H_
#define CABLEWAY_SIM_TRIAL_TRIAL_CIRCUIT_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/circuit_setup.h"
#include "sim/trial/trial_ground.h"

namespace cableway::sim {

class TrialCircuit {
 public:
  // The two applications.
  class Ends {
   public:
    virtual ~Ends() = default;
    // The set-up has come to the destination: its end of the circuit. A status: nobody listens there.
    virtual absl::Status accept(const PlantEnd& end) = 0;
    // The source's end.
    virtual void open(const PlantEnd& end) = 0;
    virtual void refused(const absl::Status& reason) = 0;
  };

  // Everything outlives this; this outlives the last call of the clock.
  TrialCircuit(TrialGround& ground, const FlowPlan& flow, Ends& ends) : ground_(ground), flow_(flow), ends_(ends) {}

  // Asks the source's node for a path and sets out.
  void set_up();
  bool setting_up() const { return state_ == State::kSettingUp; }
  // The source does not want it any more.
  void abandon(const absl::Status& reason);

  // That node's process has ended, and what it relays with it.
  void node_ended(std::size_t node);
  // Forgets relays whose circuit has ended, as a relay's loop does.
  void tend();
  // Relays that still have it.
  std::size_t relays() const;

 private:
  enum class State { kNew, kSettingUp, kOpen, kOver };
  struct Relay {
    std::size_t node = 0;
    std::unique_ptr<RelayedCircuit> circuit;
    bool forgotten = false;
  };

  absl::Status find_path();
  absl::Status check_path() const;
  absl::Status place_hops();
  void go_on(std::size_t hop);
  void arrive(std::size_t hop);
  void arrive_at_relay(std::size_t hop);
  absl::Status relay_says(std::size_t hop);
  void answer(std::size_t hop);
  absl::Status join(std::size_t hop);
  absl::Status settle(std::size_t hop);
  void add_relay(std::size_t hop);
  std::unique_ptr<RelayedCircuit> relay_between(const PlantEnd& from, const PlantEnd& to, std::size_t hop,
                                                RelayNames names);
  void again_later(void (TrialCircuit::*step)(std::size_t), std::size_t hop, const absl::Status& reason);
  void after(Duration time, void (TrialCircuit::*step)(std::size_t), std::size_t hop);
  void fail(const absl::Status& reason);

  TrialGround& ground_;
  const FlowPlan& flow_;
  Ends& ends_;
  State state_ = State::kNew;
  Instant deadline_;
  CircuitSetup setup_;
  std::unique_ptr<StubQueuePair> offered_;  // with it, until it has arrived
  SetupAnswer answer_;                      // on its way back
  std::vector<CablePlant::End> from_;       // by hop
  std::vector<CablePlant::End> to_;         // by hop
  std::vector<std::size_t> nodes_;          // source first
  std::vector<PlantHop*> hops_;             // those that stand, so far
  std::vector<Relay> relays_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_TRIAL_TRIAL_CIRCUIT_H_
