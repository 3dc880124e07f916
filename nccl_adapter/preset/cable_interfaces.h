// Which interfaces of this host have cables, as far as the settings and sysfs tell.
#ifndef CABLEWAY_NCCL_ADAPTER_PRESET_CABLE_INTERFACES_H_
#define CABLEWAY_NCCL_ADAPTER_PRESET_CABLE_INTERFACES_H_

#include <string>
#include <vector>

#include "core/ports/port_selector.h"

namespace cableway::nccl {

// Of `interfaces`: those that the selectors name, or that have an address in one of their prefixes; without selectors
// those with an RDMA device. Order is kept. NetlinkInventory, which a node asks, also knows which of these are RoCE; it
// needs libnl, which no application loads for the plugin (docs/decisions/0034).
std::vector<std::string> cable_interfaces(const std::vector<std::string>& interfaces,
                                          const std::vector<PortSelector>& selectors,
                                          const std::string& sysfs = "/sys");

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PRESET_CABLE_INTERFACES_H_
