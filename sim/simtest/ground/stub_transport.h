// The transports of a simulation test's hops, implementing core/circuit/transport.h: RDMA on stub devices if both ports
// have one, and the connection itself.
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_STUB_TRANSPORT_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_STUB_TRANSPORT_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "core/circuit/transport_negotiator.h"
#include "sim/simtest/ground/cable_plant.h"
#include "sim/simtest/rules/trace_hash.h"

namespace cableway::sim {

// Plant and trace outlive this.
TransportNegotiator stub_transports(CablePlant& plant, TraceHash& trace);

// The number of the end's device (RegisteredSlot::keys); nullopt if it uses the connection.
std::optional<std::size_t> device_of(const TransportEnd& end);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_STUB_TRANSPORT_H_
