// What is wrong with ports, cables and neighbours: the part of doctor.h that reads core/view/ports_view.h.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_PORTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_PORTS_H_

#include <map>
#include <string>
#include <vector>

#include "core/discovery/port_inventory.h"
#include "core/settings/settings.h"
#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/link_facts.h"

namespace cableway::cli {

// `ports` as core/view/ports_view.h has them, `links` of this host, by interface.
std::vector<Finding> examine_ports(const Json& ports, const Settings& settings,
                                   const std::map<std::string, LinkFacts>& links);

// As a host without a node knows them: who is heard on them is null.
Json ports_of_host(const std::vector<PortFacts>& ports, TransportSetting wanted);

// Every interface or entry of CABLEWAY_PORTS that is not used. Those that nobody meant to use are one remark a reason.
std::vector<Finding> examine_rejected(const std::vector<RejectedPort>& rejected);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_PORTS_H_
