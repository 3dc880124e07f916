// What moves the data of a hop over a cable of a simulation test: the hop's connection itself (connection_mover.h), or
// a transport that is set up on the connection and ends with it (rdma_hop.h). One implementation for each transport.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_HOP_MOVER_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_HOP_MOVER_H_

#include "core/clock.h"
#include "sim/simtest/ground/plant_end.h"

namespace cableway::sim {

class HopMover {
 public:
  HopMover() = default;
  virtual ~HopMover() = default;
  HopMover(const HopMover&) = delete;
  HopMover& operator=(const HopMover&) = delete;

  // Precondition: the set-up has reached the respective end.
  virtual PlantEnd source_end() = 0;
  virtual PlantEnd destination_end() = 0;

  // Whether the cable blocks what moves beside the connection, from source to destination, and back. The connection is
  // held by the plant.
  virtual void hold(bool there, bool back) = 0;
  // From now on sends complete this long after they have left.
  virtual void complete_late(Duration by) = 0;
  // Makes the source's next send fail.
  virtual void fail_next_send() = 0;
  // Whether data may still move after the connection has ended, so that each end notices that at its own time.
  virtual bool outlives_connection() const = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_HOP_MOVER_H_
