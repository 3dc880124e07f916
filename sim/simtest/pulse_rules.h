// Checks the rules for pulses: a verdict needs a cause, circuits over a silent cable end soon, and a cable that is good
// again is trusted again.
#ifndef CABLEWAY_SIM_SIMTEST_PULSE_RULES_H_
#define CABLEWAY_SIM_SIMTEST_PULSE_RULES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/pulse/cable_judge.h"
#include "core/pulse/pulsed_cable.h"
#include "sim/simtest/flows/simtest_flow.h"
#include "sim/simtest/ground/node_pulses.h"
#include "sim/simtest/ground/simtest_ground.h"

namespace cableway::sim {

class PulseRules {
 public:
  // To be constructed when all cables exist.
  PulseRules(SimtestGround& ground, const std::vector<std::unique_ptr<SimtestFlow>>& flows);

  // Schedules what is to be checked at times that the plan gives.
  void start();
  // To be called for every verdict.
  void verdict(std::size_t node, const PulsedCable& cable, const CableVerdict& verdict);
  // To be called at regular intervals while the world runs.
  void check();
  // Whether every cable of the topology is trusted by its nodes.
  bool rest() const;

  // Verdicts that a cable is silent, and that a node stands still.
  std::uint64_t silent() const { return silent_; }
  std::uint64_t still() const { return still_; }
  // Silences after which it was checked that circuits had ended.
  std::uint64_t silences_checked() const { return silences_checked_; }
  // The longest delay of a node's timer for pulses so far.
  Duration latest() const;

 private:
  struct Cable {
    std::size_t segment = 0;
    std::size_t a = 0;  // places of its ends in the segment
    std::size_t b = 0;
  };
  // How a node has judged a cable.
  struct Judged {
    bool distrusted = false;
    int losses = 0;  // of trust
  };

  bool leads_to_liar(const std::string& cable) const;
  const NodePulses* pulses_of(std::size_t node) const;
  std::size_t node_at(const Cable& cable, std::size_t end) const;
  void check_trust(std::size_t node, const std::string& name);
  void silence_begins(const Fault& fault);
  void check_silence(const std::string& name, const Cable& cable, Duration since);
  Duration bound(const Fault& silence) const;
  bool is_settled(const std::string& name, std::size_t node) const;

  SimtestGround& ground_;
  const std::vector<std::unique_ptr<SimtestFlow>>& flows_;
  std::vector<std::string> ends_at_liars_;  // of nodes, as in the names of cables
  std::map<std::string, Cable> cables_;
  std::map<std::pair<std::size_t, std::string>, Judged> judged_;  // by node and cable
  std::uint64_t silent_ = 0;
  std::uint64_t still_ = 0;
  std::uint64_t silences_checked_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_PULSE_RULES_H_
