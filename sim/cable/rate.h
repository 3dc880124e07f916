// Converts the rates of cables from Mbit/s, as in topologies, to bytes per second, as in the simulator.
#ifndef CABLEWAY_SIM_CABLE_RATE_H_
#define CABLEWAY_SIM_CABLE_RATE_H_

#include <cstdint>

namespace cableway::sim {

constexpr double bytes_per_second(std::uint64_t rate_mbps) {
  return static_cast<double>(rate_mbps) * 125'000;
}

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_RATE_H_
