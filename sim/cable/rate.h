// Rates of cables, which topologies give in Mbit/s, as the simulator counts: in bytes a second.
#ifndef CABLEWAY_SIM_CABLE_RATE_H_
#define CABLEWAY_SIM_CABLE_RATE_H_

#include <cstdint>

namespace cableway::sim {

constexpr double bytes_per_second(std::uint64_t rate_mbps) {
  return static_cast<double>(rate_mbps) * 125'000;
}

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_CABLE_RATE_H_
