// The listener for set-ups of a process in a simulation test, and the connector to it. Reading and deciding is done by
// the product's own code (core/circuit/hop_reception.h).
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_SETUP_DOOR_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_SETUP_DOOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/arrivals/arrivals.h"
#include "core/circuit/hop_reception.h"
#include "core/crypto/setup_keys.h"
#include "sim/simtest/ground/cable_plant.h"
#include "sim/simtest/rules/rules.h"

namespace cableway::sim {

// Deterministic challenges, the same in every run.
class Challenges {
 public:
  Challenge next();

 private:
  std::uint64_t last_ = 0;
};

// Shared by all processes that set circuits up.
struct SetupTools {
  TransportNegotiator transports;
  // Empty where the world has no key. Else nodes are half-way through a change of it: they seal with the one or the
  // other of two keys, and accept both.
  std::array<SetupKeys, 2> keys;
  Challenges challenges;

  const SetupKeys& keys_of(std::size_t node) const { return keys[node % keys.size()]; }
};

// A process's listener.
class SetupDoor {
 public:
  using Handler = std::function<void(ArrivedSetup)>;

  // Of a process on `node`. All other arguments outlive this.
  SetupDoor(std::size_t node, Clock& clock, SetupTools& tools, RuleBook& rules, Handler handler);

  void receive(std::unique_ptr<SetupConnection> connection);
  // Whether connections wait from now on, as for a process that does not accept them.
  void hold(bool held);

 private:
  void opened(Arrivals::Opening opening);

  const std::size_t node_;
  Clock& clock_;
  SetupTools& tools_;
  RuleBook& rules_;
  const Handler handler_;
  Arrivals arrivals_;
  bool held_ = false;
  std::vector<std::unique_ptr<SetupConnection>> waiting_;
};

// Connects one node to the other nodes' listeners.
class SimConnector final : public SetupConnector {
 public:
  // The listener at a TCP port of a node; null: none.
  using Listener = std::function<SetupDoor*(std::size_t node, std::uint16_t port)>;

  // Clock and plant outlive this and its attempts.
  SimConnector(VirtualClock& clock, CablePlant& plant, std::size_t node, Listener listener)
      : clock_(clock), plant_(plant), node_(node), listener_(std::move(listener)) {}

  [[nodiscard]] std::unique_ptr<Attempt> connect(const Hop& hop, Connected connected) override;

 private:
  class Connecting;

  VirtualClock& clock_;
  CablePlant& plant_;
  const std::size_t node_;
  const Listener listener_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_SETUP_DOOR_H_
