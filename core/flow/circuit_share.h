// How a circuit shares a flow's chunks with other circuits.
#ifndef CABLEWAY_CORE_FLOW_CIRCUIT_SHARE_H_
#define CABLEWAY_CORE_FLOW_CIRCUIT_SHARE_H_

#include <cstdint>

namespace cableway {

// On the wire.
enum class CircuitShare : std::uint8_t {
  kNone,       // it carries all chunks of the flow, or none
  kBundle,     // beside the others of its bundle; it competes with other flows as a flow's only circuit does
  kAlternate,  // beside those of a bundle, but only where no port on its way is in use (core/gate/port_stamps.h)
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_FLOW_CIRCUIT_SHARE_H_
