// The load of the ports on a circuit's path, as the circuit's source knows it.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_LOAD_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_LOAD_H_

#include <array>
#include <cstdint>
#include <optional>

#include "core/flow/circuit_name.h"

namespace cableway {

// In bytes per second, measured over a quarter of a second.
struct CircuitLoad {
  std::uint64_t busiest = 0;  // the load that flows' own paths put on the busiest port of the path
  std::uint64_t own = 0;      // the load of this circuit's own chunks
};

// By slot. nullopt: the slot has no live circuit, or the circuit's port is not known.
using CircuitLoads = std::array<std::optional<CircuitLoad>, kMaxFlowCircuits>;

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_LOAD_H_
