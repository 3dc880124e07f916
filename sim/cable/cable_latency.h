// The latency of a cable in the simulator.
#ifndef CABLEWAY_SIM_CABLE_CABLE_LATENCY_H_
#define CABLEWAY_SIM_CABLE_CABLE_LATENCY_H_

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/clock.h"
#include "routing/topology/topology.h"

namespace cableway::sim {

// For a cable whose latency is not known: some metres of copper or fibre, and two adapters.
inline constexpr double kAssumedLatencyUs = 1;

// The number of cables for which kAssumedLatencyUs is used.
inline std::size_t assumed_latencies(const routing::Topology& topology) {
  return static_cast<std::size_t>(std::count_if(topology.cables().begin(), topology.cables().end(),
                                                [](const routing::Cable& cable) { return !cable.latency_us; }));
}

// One way, in whole nanoseconds.
inline Duration latency_of(const routing::Cable& cable) {
  return Duration(static_cast<Duration::rep>(std::llround(cable.latency_us.value_or(kAssumedLatencyUs) * 1000)));
}

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_CABLE_LATENCY_H_
