// Explains to an operator why a datagram was refused: another version, cluster or key.
#ifndef CABLEWAY_CORE_DISCOVERY_REFUSED_DATAGRAM_H_
#define CABLEWAY_CORE_DISCOVERY_REFUSED_DATAGRAM_H_

#include <cstdint>
#include <string>

#include "core/discovery/control_datagram.h"
#include "core/event/event.h"
#include "routing/topology/port_address.h"

namespace cableway {

struct RefusedDatagram {
  EventCode code = EventCode::kVersionDiffers;
  std::uint64_t about = 0;  // the claimed sender; 0: any
  std::string text;
  EventField address;
};

// `fault`: kVersion, kCluster or kSeal. `cluster` is this node's, `interface` where the datagram arrived.
RefusedDatagram explain_refusal(ControlFault fault, const ControlDatagram& datagram, const std::string& cluster,
                                const std::string& interface, const routing::PortAddress& from);

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_REFUSED_DATAGRAM_H_
