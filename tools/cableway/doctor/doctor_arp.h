// A finding about ports on one segment that answer ARP for each other's addresses: functions of one plug, or ports that
// hear the same port of a neighbour. All receive every request. If the wrong one answers first, TCP works (all data may
// arrive through one port), as the host accepts its addresses on every interface, but an RDMA queue pair sends to the
// MAC of the wrong function, which drops its packets.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_ARP_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_ARP_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/cableway/doctor/doctor.h"

namespace cableway::cli {

// Whether what a port hears may be of either of two nodes with one name: then no segment can be inferred from it.
using HearsNamesakes = std::function<bool(const std::string& interface)>;

// `ports` as in core/view/ports_view.h; `arp_ignore` of this host. At most one finding per segment.
std::vector<Finding> examine_arp(const Json& ports, const std::map<std::string, int>& arp_ignore,
                                 const HearsNamesakes& hears_namesakes);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_ARP_H_
