// Findings about the hardware behind a port: the part of doctor.h that reads tools/cableway/doctor/link_facts.h.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_LINKS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_LINKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/link_facts.h"

namespace cableway::cli {

// A port whose connector's rate is shared by `halves` ports, each with its own PCIe link.
struct LinkedPort {
  std::string interface;
  std::uint64_t rate_mbps = 0;  // 0: not known
  std::uint64_t halves = 1;
};

std::vector<Finding> examine_link(const LinkedPort& port, const LinkFacts& facts);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_LINKS_H_
