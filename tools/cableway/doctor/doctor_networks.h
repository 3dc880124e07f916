// Findings about this host's IP configuration around its cables: default routes over cables, and subnets that a cable
// shares with another cable or with an interface that has none. Cables work beside all of these, since nodes know their
// cables by interface; the host's other traffic may not.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_NETWORKS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_NETWORKS_H_

#include <vector>

#include "tools/cableway/doctor/doctor.h"

namespace cableway::cli {

// `ports` as in core/view/ports_view.h; of `host`, the default routes and the addresses count. At most one finding for
// each interface with a default route, each subnet of several cables, and each pair of a cable and another interface.
std::vector<Finding> examine_networks(const Json& ports, const HostFacts& host);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_NETWORKS_H_
