// Memory of a flow's messages, with the key by which the device of each circuit's hop accesses it.
#ifndef CABLEWAY_CORE_FLOW_FLOW_CIRCUIT_H_
#define CABLEWAY_CORE_FLOW_FLOW_CIRCUIT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/flow/chunk_link.h"
#include "core/flow/circuit_name.h"

namespace cableway {

// The keys of a memory region, by the circuit's slot; 0 if a circuit's hop needs none (TCP).
using CircuitKeys = std::array<std::uint32_t, kMaxFlowCircuits>;

// The source buffer of a message.
struct FlowBuffer {
  const std::byte* data = nullptr;
  CircuitKeys keys{};

  FlowBuffer() = default;
  FlowBuffer(const std::byte* from, const CircuitKeys& circuit_keys) : data(from), keys(circuit_keys) {}
  // For a flow with one circuit.
  FlowBuffer(const SendBuffer& buffer) : data(buffer.data), keys{buffer.key} {}  // NOLINT(google-explicit-constructor)

  SendBuffer at(std::uint64_t offset, std::size_t circuit) const { return {data + offset, keys[circuit]}; }
};

// The destination buffer of a message.
struct FlowLanding {
  std::byte* data = nullptr;
  std::uint64_t capacity = 0;
  CircuitKeys keys{};

  FlowLanding() = default;
  FlowLanding(std::byte* to, std::uint64_t bytes, const CircuitKeys& circuit_keys)
      : data(to), capacity(bytes), keys(circuit_keys) {}
  // For a flow with one circuit.
  FlowLanding(const Landing& landing)  // NOLINT(google-explicit-constructor)
      : data(landing.data), capacity(landing.capacity), keys{landing.key} {}

  Landing on(std::size_t circuit) const { return {data, capacity, keys[circuit]}; }
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FLOW_CIRCUIT_H_
