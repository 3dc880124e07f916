// RDMA on stub devices, for hops whose ports both have one (SimtestPlan): the queue pairs of a set-up, and registered
// slots for relays.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_RDMA_TRANSPORT_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_RDMA_TRANSPORT_H_

#include <memory>

#include "sim/nodes/cable_fabric.h"
#include "sim/simtest/ground/sim_transport.h"
#include "sim/simtest/plan/simtest_plan.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

// Plan and clock outlive it. All segments of the fabric exist already.
std::unique_ptr<SimTransport> make_rdma_transport(const SimtestPlan& plan, VirtualClock& clock,
                                                  const CableFabric& fabric);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_RDMA_TRANSPORT_H_
