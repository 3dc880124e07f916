// The circuits that carry one flow, by their slots: one of them, for now, and room for more. Memory is known to the
// device of each circuit's hop by a key of its own.
#ifndef CABLEWAY_CORE_FLOW_FLOW_CIRCUIT_H_
#define CABLEWAY_CORE_FLOW_FLOW_CIRCUIT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/flow/chunk_link.h"

namespace cableway {

// Circuits of a flow are numbered from 0 below this.
inline constexpr std::size_t kMaxFlowCircuits = 8;

// The keys of a region of memory, by circuit; 0 where a circuit's hop needs none (TCP).
using CircuitKeys = std::array<std::uint32_t, kMaxFlowCircuits>;

// Where a flow's message is sent from.
struct FlowBuffer {
  const std::byte* data = nullptr;
  CircuitKeys keys{};

  FlowBuffer() = default;
  FlowBuffer(const std::byte* from, const CircuitKeys& known_by) : data(from), keys(known_by) {}
  // Of a flow with one circuit.
  FlowBuffer(const SendBuffer& buffer) : data(buffer.data), keys{buffer.key} {}  // NOLINT(google-explicit-constructor)

  SendBuffer at(std::uint64_t offset, std::size_t circuit) const { return {data + offset, keys[circuit]}; }
};

// Where a flow's message lands.
struct FlowLanding {
  std::byte* data = nullptr;
  std::uint64_t capacity = 0;
  CircuitKeys keys{};

  FlowLanding() = default;
  FlowLanding(std::byte* to, std::uint64_t bytes, const CircuitKeys& known_by)
      : data(to), capacity(bytes), keys(known_by) {}
  // Of a flow with one circuit.
  FlowLanding(const Landing& landing)  // NOLINT(google-explicit-constructor)
      : data(landing.data), capacity(landing.capacity), keys{landing.key} {}

  Landing on(std::size_t circuit) const { return {data, capacity, keys[circuit]}; }
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FLOW_CIRCUIT_H_
