// The links behind a host's interfaces as sysfs reports them: the RDMA device's and the PCIe link. Read-only.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_LINK_FACTS_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_LINK_FACTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "core/linux/os/sysfs.h"
#include "core/linux/ports/pcie_link.h"

namespace cableway::cli {

// Of one interface. Unknown values are empty or 0.
struct LinkFacts {
  std::string rdma_device;  // "mlx5_0", "mlx4_0:2"
  std::string rdma_rate;    // "100 Gb/sec (4X EDR)"; of hardware only, as software devices report arbitrary rates
  std::uint64_t rdma_rate_mbps = 0;
  host::PcieLink pcie;
  // Interfaces with the same value are functions of one connector (core/linux/ports/physical_connector.h).
  std::string plug;
  // The device's non-zero counters of losses and congestion since it started, by name.
  std::map<std::string, std::uint64_t> losses = {};
  std::map<std::string, std::uint64_t> congestion = {};
};

// Of the interfaces that have hardware or an RDMA device, by name.
std::map<std::string, LinkFacts> read_links(const host::Sysfs& sysfs);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_FACTS_LINK_FACTS_H_
