// Findings about ports, cables and neighbours: the part of doctor.h that reads core/view/ports_view.h.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_PORTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_PORTS_H_

#include <map>
#include <string>
#include <vector>

#include "core/ports/port_inventory.h"
#include "core/settings/settings.h"
#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/facts/link_facts.h"
#include "tools/cableway/doctor/known_causes.h"

namespace cableway::cli {

// `ports` as in core/view/ports_view.h; `links` of this host, by interface. What follows from one of `causes` is left
// out.
std::vector<Finding> examine_ports(const Json& ports, const Settings& settings,
                                   const std::map<std::string, LinkFacts>& links, const KnownCauses& causes);

// `neighbours` of a port: whether the cables on its wire join other ports of both nodes. Each of these hears this one,
// or may.
bool is_spare_port(const Json& neighbours);

// The ports as seen without a node: their neighbours are null.
Json ports_of_host(const std::vector<PortFacts>& ports, TransportSetting wanted);

// Every unused interface or entry of CABLEWAY_PORTS. Those that were not requested are grouped into one finding per
// reason.
std::vector<Finding> examine_rejected(const std::vector<RejectedPort>& rejected);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_PORTS_H_
