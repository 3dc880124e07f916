// Findings about PCIe links, which the functions of an adapter share: the part of doctor.h that compares what the links
// move (core/linux/ports/pcie_link.h) with what their ports need.
//
// A port needs its share of its plug: the link's rate divided by the number of the plug's functions, as all of these
// carry the plug's data. A DGX Spark's port needs half of 200 Gbit/s, which one of its PCIe links moves; two such ports
// on that link need more.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_ROOTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_ROOTS_H_

#include <map>
#include <string>
#include <vector>

#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/facts/link_facts.h"

namespace cableway::cli {

// `ports` as in core/view/ports_view.h; `links` of this host, by interface. At most one finding per PCIe link.
std::vector<Finding> examine_roots(const Json& ports, const std::map<std::string, LinkFacts>& links);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_ROOTS_H_
