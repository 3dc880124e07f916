// The pulses of a node of a simulation test: the product's own (core/pulse/pulses.h, core/node/cable_verdicts.h) on the
// node's clock, with sockets on the fabric's ports, as core/linux/pulse/pulse_thread.h and
// core/linux/node/pulse_service.h on a host.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_NODE_PULSES_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_NODE_PULSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/node/cable_verdicts.h"
#include "core/pulse/pulses.h"
#include "sim/nodes/cable_fabric.h"
#include "sim/simtest/ground/host_stalls.h"
#include "sim/simtest/ground/simtest_ground.h"
#include "sim/simtest/plan/simtest_random.h"

namespace cableway::sim {

class NodePulses final : private Pulses::Host, private PulseSockets {
 public:
  // The node runs. It may end shortly before this does.
  NodePulses(SimtestGround& ground, std::size_t node, CableVerdicts::Listener listener);
  ~NodePulses() override;
  NodePulses(const NodePulses&) = delete;
  NodePulses& operator=(const NodePulses&) = delete;

  // Call when cables, ports or neighbours may have changed.
  void update();
  // While it stands still, its thread does nothing; its kernel answers.
  void stand_still(bool still);

  const DoubtedCables& doubted() const { return verdicts_.doubted(); }
  // Since when the cable is pulsed, by the world's clock; nullopt: it is not.
  std::optional<Instant> pulsed_since(const std::string& cable) const;
  // The longest delay of its timer so far.
  Duration latest() const { return latest_; }

 private:
  struct Arrived {
    std::array<std::byte, kPulseBytes> bytes{};  // the first ones
    std::size_t size = 0;
    Instant at;
  };
  // A connected socket, and a question to the neighbour's kernel.
  struct Link {
    PulsedCable cable;
    Instant since;  // of the world's clock
    std::deque<Arrived> arrived;
    bool refused = false;
    bool asking = false;
    bool answered = false;
    Instant asked;
    std::uint64_t packets = 0;
  };

  bool send(const PulsedCable& cable, std::span<const std::byte> bytes) override;
  bool look_for_signs(const PulsedCable& cable) override;
  void verdict(const PulsedCable& cable, const CableVerdict& verdict) override;
  // Ignored: the rules about paths know the graph, and not which cables are better left unused.
  void loss(const PulsedCable& /*cable*/, unsigned /*percent*/) override {}

  bool pulse(PortId port, const routing::PortAddress& from, std::span<const std::byte> bytes) override;
  void refused(PortId port, const routing::PortAddress& from) override;
  void answered(PortId port, const routing::PortAddress& from) override;

  void run();
  void wake_at(Instant when);
  void take_cables(Instant now);
  void read_all();
  void act_later();
  void act();
  Link* find(PortId port, const routing::PortAddress& from);
  Instant now() const { return clock_.now(); }

  SimtestGround& ground_;
  const std::size_t node_;
  FabricPorts& ports_;
  Clock& clock_;
  SimtestRandom random_;
  HostStalls stalls_;
  Pulses pulses_;
  CableVerdicts verdicts_;
  std::vector<PulsedCable> pulsed_;
  std::optional<std::vector<PulsedCable>> wanted_;
  std::map<std::string, Link> links_;
  std::deque<std::pair<PulsedCable, CableVerdict>> found_;  // not acted on yet
  bool still_ = false;
  Duration latest_{0};
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<Timer> acts_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_NODE_PULSES_H_
