// Network interfaces and their addresses as reported by the kernel.
#ifndef CABLEWAY_CORE_LINUX_PORTS_KERNEL_NETWORK_H_
#define CABLEWAY_CORE_LINUX_PORTS_KERNEL_NETWORK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/ports/port_inventory.h"

namespace cableway::host {

struct KernelLink {
  std::string name;
  std::string kind;  // "veth", "bridge", "vrf"...; "" for hardware
  bool up = false;   // administratively
  bool carrier = false;
  bool loopback = false;
  std::uint32_t mtu = 0;
  PortId master = 0;           // of the bridge, bond or VRF that it is a member of, or 0
  std::string phys_switch_id;  // of the board, in hex, or ""
  std::string phys_port_name;  // of the connector on it: "p0", or ""
  std::uint64_t revision = 0;  // number of the kernel's messages about the interface, including those without a change

  friend bool operator==(const KernelLink&, const KernelLink&) = default;
};

struct KernelAddress {
  PortId link = 0;
  PortPrefix prefix;  // of a point-to-point address: the shortest that holds both ends
  bool tentative = false;
  bool duplicate = false;  // another host uses it

  friend bool operator==(const KernelAddress&, const KernelAddress&) = default;
};

struct KernelNetwork {
  std::map<PortId, KernelLink> links;
  std::vector<KernelAddress> addresses;  // in the kernel's order; IPv4 first
};

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_PORTS_KERNEL_NETWORK_H_
