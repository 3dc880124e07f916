// What the ports on a circuit's way carry, as its source knows it.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_LOAD_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_LOAD_H_

#include <array>
#include <cstdint>
#include <optional>

#include "core/flow/circuit_name.h"

namespace cableway {

// In bytes per second, by measurements of a quarter of a second.
struct CircuitLoad {
  std::uint64_t busiest = 0;  // what flows' own paths put on the busiest of its ports
  std::uint64_t own = 0;      // what was given to this circuit
};

// By slot; nullopt: no circuit is alive there, or its port is not known.
using CircuitLoads = std::array<std::optional<CircuitLoad>, kMaxFlowCircuits>;

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_LOAD_H_
