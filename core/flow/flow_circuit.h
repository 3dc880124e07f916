// Memory of a flow's messages, with the keys by which the devices of the circuits' hops access it.
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
  // Read at each use, since a circuit may join while the message is in progress. Must live until the message is done.
  // Null: `key` applies to every circuit.
  const CircuitKeys* keys = nullptr;
  std::uint32_t key = 0;

  FlowBuffer() = default;
  FlowBuffer(const std::byte* from, const CircuitKeys* circuit_keys) : data(from), keys(circuit_keys) {}
  // For a flow with one circuit.
  FlowBuffer(const SendBuffer& buffer) : data(buffer.data), key(buffer.key) {}  // NOLINT(google-explicit-constructor)

  SendBuffer at(std::uint64_t offset, std::size_t circuit) const {
    return {data + offset, keys == nullptr ? key : (*keys)[circuit]};
  }
};

// The destination buffer of a message.
struct FlowLanding {
  std::byte* data = nullptr;
  std::uint64_t capacity = 0;
  const CircuitKeys* keys = nullptr;  // as FlowBuffer::keys
  std::uint32_t key = 0;

  FlowLanding() = default;
  FlowLanding(std::byte* to, std::uint64_t bytes, const CircuitKeys* circuit_keys)
      : data(to), capacity(bytes), keys(circuit_keys) {}
  // For a flow with one circuit.
  FlowLanding(const Landing& landing)  // NOLINT(google-explicit-constructor)
      : data(landing.data), capacity(landing.capacity), key(landing.key) {}

  Landing on(std::size_t circuit) const { return {data, capacity, keys == nullptr ? key : (*keys)[circuit]}; }
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_FLOW_CIRCUIT_H_
