// Applies the faults of a plan and ends them at their times. Several may affect one target: its state is always
// recomputed from all active faults.
#ifndef CABLEWAY_SIM_SIMTEST_FAULT_PLAYER_H_
#define CABLEWAY_SIM_SIMTEST_FAULT_PLAYER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/simtest/drifting_clock.h"
#include "sim/simtest/flows/simtest_flow.h"
#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/hostile/datagram_holder.h"
#include "sim/simtest/hostile/eavesdropper.h"
#include "sim/simtest/hostile/liar.h"
#include "sim/simtest/node_rules.h"

namespace cableway::sim {

class FaultPlayer {
 public:
  // To be constructed before the first node starts. Target numbers wrap around, so that a plan stays valid for a
  // smaller world.
  FaultPlayer(SimtestGround& ground, NodeRules& rules, std::vector<std::unique_ptr<SimtestFlow>>& flows,
              std::vector<std::unique_ptr<Liar>>& liars);

  // Starts the nodes and schedules all faults.
  void start();
  // When the last temporary fault has ended.
  Instant last_end() const;
  // When all faults are over and every node has had time to detect it.
  Instant calm() const;
  // Faults that have begun, by kind.
  const std::array<std::uint64_t, kFaultKinds>& begun() const { return begun_; }
  // How often a cable, or all cables between two parts of the world, stopped carrying while a flow was not over; the
  // plant counts those of kCutOn.
  std::uint64_t cuts() const { return cuts_; }

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
  void update_flow(const Fault& fault);
  void judge_wrongly(const Fault& fault);
  void replay(const Fault& fault);
  void update_cable(std::size_t cable);
  void update_drains(std::size_t cable);
  void set_cable_drains(std::size_t node, const std::string& name, bool drains);
  void note_cut();
  void update_node(std::size_t node);
  void take_down(std::size_t node, const Down& down);
  void bring_up(std::size_t node);
  void set_applications(std::size_t node, bool live);
  bool at_work(const Fault& fault) const;
  std::size_t target(const Fault& fault) const;
  Liar& liar_of(const Fault& fault) const;
  bool has_carrier(std::size_t cable) const;

  SimtestGround& ground_;
  NodeRules& rules_;
  std::vector<std::unique_ptr<SimtestFlow>>& flows_;
  std::vector<std::unique_ptr<Liar>>& liars_;  // by fault of their kind
  const FaultPlan& plan_;
  std::vector<std::unique_ptr<DriftingClock>> clocks_;
  std::unique_ptr<Eavesdropper> eavesdropper_;
  std::map<const Fault*, std::unique_ptr<DatagramHolder>> holders_;
  std::vector<Down> down_;     // by node, current state
  std::vector<bool> carrier_;  // by segment, current state
  std::array<std::uint64_t, kFaultKinds> begun_{};
  std::uint64_t cuts_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_FAULT_PLAYER_H_
