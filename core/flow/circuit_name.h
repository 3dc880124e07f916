// The name of a circuit within its flow, and the frames about a circuit.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_NAME_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_NAME_H_

#include <cstddef>
#include <cstdint>

#include "core/flow/frame.h"

namespace cableway {

// The number of slots for a flow's circuits: live, being set up, or in limbo.
inline constexpr std::size_t kMaxFlowCircuits = 8;

struct CircuitName {
  std::uint8_t slot = 0;         // below kMaxFlowCircuits
  std::uint32_t generation = 0;  // grows with each circuit in the slot, from 1

  friend bool operator==(const CircuitName&, const CircuitName&) = default;
};

// Requests the receiver to fence the circuit and to report its chunk count.
inline Frame retire_frame(const CircuitName& circuit) {
  return Frame{FrameKind::kRetire, 0, 0, circuit.slot, circuit.generation};
}
// Reports that the circuit is fenced, and the number of chunks that landed over it.
inline Frame retired_frame(const CircuitName& circuit, std::uint64_t count) {
  return Frame{FrameKind::kRetired, 0, count, circuit.slot, circuit.generation};
}
// Requires a frame kRetire or kRetired that was checked.
inline CircuitName circuit_of(const Frame& frame) {
  return {static_cast<std::uint8_t>(frame.offset), static_cast<std::uint32_t>(frame.size)};
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_NAME_H_
