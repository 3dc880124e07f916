// A circuit's name within its flow, and the frames that are about a circuit.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_NAME_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_NAME_H_

#include <cstddef>
#include <cstdint>

#include "core/flow/frame.h"

namespace cableway {

// Slots for a flow's circuits: those that are alive, being set up, or in limbo.
inline constexpr std::size_t kMaxFlowCircuits = 8;

struct CircuitName {
  std::uint8_t slot = 0;         // below kMaxFlowCircuits
  std::uint32_t generation = 0;  // grows with each circuit in the slot, from 1

  friend bool operator==(const CircuitName&, const CircuitName&) = default;
};

// "fence it, and tell its count"
inline Frame retire_frame(const CircuitName& circuit) {
  return Frame{FrameKind::kRetire, 0, 0, circuit.slot, circuit.generation};
}
// "it is fenced; that many chunks landed over it"
inline Frame retired_frame(const CircuitName& circuit, std::uint64_t count) {
  return Frame{FrameKind::kRetired, 0, count, circuit.slot, circuit.generation};
}
// Requires a checked kRetire or kRetired.
inline CircuitName circuit_of(const Frame& frame) {
  return {static_cast<std::uint8_t>(frame.offset), static_cast<std::uint32_t>(frame.size)};
}

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_NAME_H_
