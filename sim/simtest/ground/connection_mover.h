// A hop in memory whose data moves on its own connection (sim/cable/cable_hop.h).
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_CONNECTION_MOVER_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_CONNECTION_MOVER_H_

#include "sim/cable/cable_hop.h"
#include "sim/simtest/ground/hop_mover.h"

namespace cableway::sim {

class ConnectionMover final : public HopMover {
 public:
  // All arguments outlive this.
  ConnectionMover(CableHop& connection, HopUser& source, HopUser& destination)
      : connection_(connection), source_(source), destination_(destination) {}

  PlantEnd source_end() override { return PlantEnd{connection_.source(), source_}; }
  PlantEnd destination_end() override { return PlantEnd{connection_.destination(), destination_}; }
  void hold(bool /*there*/, bool /*back*/) override {}  // nothing moves beside the connection
  void complete_late(Duration by) override { connection_.forward().complete_late(by); }
  void fail_next_send() override { connection_.forward().fail_next_send(); }
  bool outlives_connection() const override { return false; }

 private:
  CableHop& connection_;
  HopUser& source_;
  HopUser& destination_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_CONNECTION_MOVER_H_
