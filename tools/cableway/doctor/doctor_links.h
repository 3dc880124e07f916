// Findings about the RDMA device behind a port: the part of doctor.h that reads
// tools/cableway/doctor/facts/link_facts.h. Those about PCIe links are in doctor_roots.h.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_LINKS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_LINKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cableway/doctor/doctor.h"
#include "tools/cableway/doctor/facts/link_facts.h"

namespace cableway::cli {

struct LinkedPort {
  std::string interface;
  std::uint64_t link_mbps = 0;  // of the interface's link; 0: not known
};

std::vector<Finding> examine_link(const LinkedPort& port, const LinkFacts& facts);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_DOCTOR_LINKS_H_
