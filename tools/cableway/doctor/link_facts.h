// What sysfs says of the links behind a host's interfaces: the RDMA device's, and the PCIe slot's. Read-only.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_LINK_FACTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_LINK_FACTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "core/linux/os/sysfs.h"

namespace cableway::cli {

struct PcieLink {
  double gigatransfers = 0;  // a second, of each lane; 0: not known
  int lanes = 0;

  // Of payload and PCIe's own headers, each direction; 0: not known.
  double gigabits() const;
};

// Of one interface. What is not there, or says nothing, is empty or 0.
struct LinkFacts {
  std::string rdma_device;  // "mlx5_0", "mlx4_0:2"
  std::string rdma_rate;    // "100 Gb/sec (4X EDR)"; of hardware only, as others make theirs up
  std::uint64_t rdma_rate_mbps = 0;
  PcieLink pcie;       // as it is
  PcieLink pcie_most;  // what the adapter could do
  // The device's counters that tell of losses or congestion since it was started, by name; none that are 0.
  std::map<std::string, std::uint64_t> losses;
  std::map<std::string, std::uint64_t> congestion;
};

// Of the interfaces that have hardware or an RDMA device, by name.
std::map<std::string, LinkFacts> read_links(const host::Sysfs& sysfs);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_LINK_FACTS_H_
