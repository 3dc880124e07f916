// How a circuit shares a flow's chunks with other circuits.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_SHARE_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_SHARE_H_

#include <cstdint>

namespace cableway {

// On the wire.
enum class CircuitShare : std::uint8_t {
  kNone,       // carries all chunks of the flow, or none
  kBundle,     // shares chunks with its bundle; competes with other flows as a flow's only circuit does
  kAlternate,  // shares chunks with a bundle, but only while no port on its path is in use (core/gate/port_stamps.h)
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_SHARE_H_
