// The rate that a node reports to NCCL: that of one cable, over all functions of the cable's plug.
#ifndef CABLEWAY_CORE_NODE_PLUG_RATE_H_
#define CABLEWAY_CORE_NODE_PLUG_RATE_H_

#include <cstdint>
#include <span>

#include "core/ports/port_inventory.h"

namespace cableway {

// The rate of the fastest plug in Mbit/s, each direction; 0: no port has a known rate. A plug has the rate of its
// fastest link, or of what its ports can carry together if that is less; ports behind one root carry no more than the
// root does. A port without a plug counts as a plug.
std::uint64_t fastest_plug_mbps(std::span<const PortFacts> ports);

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_PLUG_RATE_H_
