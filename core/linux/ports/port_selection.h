// Decides which interfaces and addresses are ports, and reports why others are rejected. A pure function of its inputs.
#ifndef CABLEWAY_CORE_LINUX_PORTS_PORT_SELECTION_H_
#define CABLEWAY_CORE_LINUX_PORTS_PORT_SELECTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/linux/ports/kernel_network.h"
#include "core/linux/ports/pcie_link.h"
#include "core/linux/rdma/rdma_ports.h"
#include "core/ports/port_inventory.h"
#include "core/ports/port_selector.h"

namespace cableway::host {

// What sysfs reports of the interfaces. An interface without an entry has no such value.
struct DeviceFacts {
  std::map<PortId, std::string> pci_functions;
  std::map<PortId, int> function_ports;        // InterfaceHardware::port
  std::map<PortId, std::uint64_t> rates_mbps;  // of links
  std::map<PortId, PcieLink> pcie_links;
  std::vector<RdmaPort> rdma;
};

struct PortSelection {
  std::vector<PortFacts> ports;        // sorted by id
  std::vector<RejectedPort> rejected;  // sorted by the interface's id; unmatched entries of CABLEWAY_PORTS come last
  std::string status;                  // why there is no port, and the remedy; empty if there is one
};

// With selectors: each interface that a selector names, with all its usable addresses; and every address inside a
// prefix, without the interface's other addresses if no selector names the interface. Without selectors: the
// interfaces of RoCE devices.
//
// Never used: an interface that is down, a member of a bridge or bond, one without a usable address, and, unless
// selected, loopback. An address is usable when duplicate address detection has accepted it and no interface with a
// smaller ID uses it for a port. Lack of carrier does not reject an interface: the port reports it.
PortSelection select_ports(const KernelNetwork& network, const DeviceFacts& devices,
                           const std::vector<PortSelector>& selectors);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_PORT_SELECTION_H_
