// Where set-ups arrive at a process of a simulation test, and how others connect there. What is read and decided is the
// product's own (core/circuit/hop_reception.h).
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_SETUP_DOOR_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_SETUP_DOOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "core/circuit/hop_reception.h"
#include "sim/simtest/ground/cable_plant.h"
#include "sim/simtest/rules/rules.h"

namespace cableway::sim {

// Numbers that nobody in a simulation test guesses, the same in every run.
class Challenges {
 public:
  Challenge next();

 private:
  std::uint64_t last_ = 0;
};

// What is shared by all processes that set circuits up.
struct SetupTools {
  TransportNegotiator transports;
  std::optional<SubKey> key;
  Challenges challenges;
};

// A process's listener.
class SetupDoor {
 public:
  using Handler = std::function<void(ArrivedSetup)>;

  // Everything outlives it.
  SetupDoor(Clock& clock, SetupTools& tools, RuleBook& rules, Handler handler)
      : clock_(clock), tools_(tools), rules_(rules), handler_(std::move(handler)) {}

  void receive(std::unique_ptr<SetupConnection> connection);

 private:
  Clock& clock_;
  SetupTools& tools_;
  RuleBook& rules_;
  const Handler handler_;
  std::list<HopReception> receptions_;
};

// One node's way to the others' doors.
class SimConnector final : public SetupConnector {
 public:
  // Who listens at a port of a node; null: nobody.
  using Listener = std::function<SetupDoor*(std::size_t node, std::uint16_t port)>;

  // Clock and plant outlive it and what it began.
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
