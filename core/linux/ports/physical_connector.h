// Finds the interfaces that are parts of one physical connector, and therefore share its capacity and fail together.
//
// Adapters with more than one PCIe link show each connector as several PCI functions: a ConnectX-7 in a DGX Spark has
// enp1s0f0np0 at 0000:01:00.0 and enP2p1s0f0np0 at 0002:01:00.0, both its connector p0. Two interfaces are joined only
// if the kernel reports all of this:
//   - each is a PCI function of its own, and has a port name for a whole connector ("p0"; "p0s1" is one lane of a
//     split cable and "pf0vf1" a virtual function, which both are something else);
//   - the names are the same;
//   - one board is named for both: by the switch ID of the interface, the system image GUID of its RDMA device, or the
//     PCI slot.
// Otherwise each interface counts as a connector of its own. The board's serial number would identify it too, but only
// root can read it, and reading it stops some devices for a tenth of a second.
#ifndef CABLEWAY_CORE_LINUX_PORTS_PHYSICAL_CONNECTOR_H_
#define CABLEWAY_CORE_LINUX_PORTS_PHYSICAL_CONNECTOR_H_

#include <map>
#include <string>
#include <vector>

#include "core/ports/port_inventory.h"

namespace cableway::host {

// What is known of one interface. Each member may be empty.
struct ConnectorClues {
  std::string pci_function;    // "0000:01:00.0"
  std::string phys_port_name;  // "p0"
  std::string phys_switch_id;
  std::string rdma_board;
};

// The plug of each interface that has one, including plugs with a single interface: "p0.switch-9a1c04". Interfaces
// linked by different clues, one by its switch and the next by its slot, still form one plug.
std::map<PortId, std::string> find_plugs(const std::map<PortId, ConnectorClues>& interfaces);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_PHYSICAL_CONNECTOR_H_
