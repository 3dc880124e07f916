// The transports of a simulation test's hops, in the order of preference; the last resort is the connection itself.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_STUB_TRANSPORT_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_STUB_TRANSPORT_H_

#include <memory>
#include <vector>

#include "core/circuit/transport_negotiator.h"
#include "sim/nodes/cable_fabric.h"
#include "sim/simtest/ground/cable_plant.h"
#include "sim/simtest/ground/sim_transport.h"
#include "sim/simtest/plan/simtest_plan.h"
#include "sim/simtest/rules/trace_hash.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {

// Plan and clock outlive them. All segments of the fabric exist already.
std::vector<std::unique_ptr<SimTransport>> stub_transports(const SimtestPlan& plan, VirtualClock& clock,
                                                           const CableFabric& fabric);

// Chooses among them, for all set-ups of the world. All arguments outlive it.
TransportNegotiator negotiate(const std::vector<std::unique_ptr<SimTransport>>& transports, CablePlant& plant,
                              TraceHash& trace);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_STUB_TRANSPORT_H_
