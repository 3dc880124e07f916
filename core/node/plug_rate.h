// How fast a node is to NCCL: one cable's worth, over all functions of the cable's plug.
#ifndef CABLEWAY_CORE_NODE_PLUG_RATE_H_
#define CABLEWAY_CORE_NODE_PLUG_RATE_H_

#include <cstdint>
#include <span>

#include "core/discovery/port_inventory.h"

namespace cableway {

// The rate of the fastest plug in Mbit/s, each direction; 0: no port has a known rate. A plug has the rate of its
// fastest link, or of what its ports can carry together if that is less; ports behind one root carry no more than the
// root does. A port without a plug is one of its own.
std::uint64_t fastest_plug_mbps(std::span<const PortFacts> ports);

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_PLUG_RATE_H_
