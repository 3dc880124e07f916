// The PCIe link behind an interface, from sysfs.
#ifndef CABLEWAY_CORE_LINUX_PORTS_PCIE_LINK_H_
#define CABLEWAY_CORE_LINUX_PORTS_PCIE_LINK_H_

#include <cstdint>
#include <string>

#include "core/linux/os/sysfs.h"

namespace cableway::host {

struct PcieSpeed {
  double gigatransfers = 0;  // per second and lane; 0: not known
  std::uint32_t lanes = 0;   // 0: not known

  bool known() const { return gigatransfers > 0 && lanes > 0; }
  // Its data rate in each direction, in Mbit/s (routing/topology/pcie_rate.h); 0: not known.
  std::uint64_t rate_mbps() const;
  friend bool operator==(const PcieSpeed&, const PcieSpeed&) = default;
};

// The narrowest of the links between an interface's device and the processor. Of several equally narrow links, the
// one nearest to the processor, which most devices share.
struct PcieLink {
  // The function at the link's upper end, a root port or a switch's downstream port: "0000:00:00.0". Every function
  // below it shares the link. "" : there is no link whose speed is known, as for a device that is part of the
  // processor.
  std::string root;
  PcieSpeed current;  // its present speed
  PcieSpeed adapter;  // the maximum of its lower end
  PcieSpeed slot;     // the maximum of its upper end

  // The maximum of both ends; that of the adapter where the slot's is not known.
  PcieSpeed maximum() const;
  friend bool operator==(const PcieLink&, const PcieLink&) = default;
};

// Emulated adapters (virtio) have no link: the one that their configuration space reports is fictitious.
PcieLink read_pcie_link(const Sysfs& sysfs, const std::string& interface);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_PCIE_LINK_H_
