// The ports of this host's RDMA devices and their GIDs, from /sys/class/infiniband. No libibverbs: a host without it
// still gets told what it has.
#ifndef CABLEWAY_CORE_LINUX_RDMA_RDMA_PORTS_H_
#define CABLEWAY_CORE_LINUX_RDMA_RDMA_PORTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/linux/os/sysfs.h"
#include "routing/topology/port_address.h"

namespace cableway::host {

inline constexpr char kRdmaDeviceFolder[] = "/dev/infiniband";

struct RoceGid {
  int index = 0;
  std::string interface;         // that it belongs to
  routing::PortAddress address;  // without a scope
  int version = 2;               // of RoCE, 1 or 2
};

// One port of an RDMA device: most devices have one, a ConnectX-3 has two.
struct RdmaPort {
  std::string device;        // "mlx5_0"
  std::uint8_t number = 1;   // of the device's ports, from 1
  bool only = true;          // the device has no other
  std::string link_layer;    // "Ethernet" (RoCE) or "InfiniBand"
  std::string state;         // as the kernel spells it: "4: ACTIVE"
  std::string pci_function;  // "0000:01:00.0", or "" for one in software
  std::string board;         // the board's GUID, or ""
  std::vector<RoceGid> gids;
  // Why no process here can use the device, whatever its ports are like; "": nothing is known to be in the way.
  std::string trouble;
  std::uint32_t mtu = 0;  // bytes of payload in a packet, as the device says; 0: it has not been asked

  std::string name() const;  // "mlx5_0", or "mlx4_0:2" where the device has several
  bool is_ethernet() const { return link_layer == "Ethernet"; }
  bool is_active() const { return state.starts_with("4:"); }
};

// A network interface, as its driver knows it.
struct InterfaceHardware {
  std::string name;
  std::string pci_function = {};  // "" for one in software
  int port = 0;                   // of the function, from 0: a ConnectX-3 has both of its ports on one
};

InterfaceHardware read_interface(const Sysfs& sysfs, const std::string& name);

// Those with Ethernet or InfiniBand below, sorted by device and number. At most 256 devices, the first 16 ports of each
// and 4,096 GIDs of those are looked at. Processes use the devices through files in `device_folder`.
std::vector<RdmaPort> read_rdma_ports(const Sysfs& sysfs, const std::string& device_folder = kRdmaDeviceFolder);

// The one behind an interface: it has a GID of that name, or, where none has, is the same port of the same PCI
// function. A device whose PCI function is another one than the interface's is not meant, whatever its GIDs say: names
// are those of its own network namespace. nullptr where there is none.
const RdmaPort* rdma_port_of(const std::vector<RdmaPort>& ports, const InterfaceHardware& interface);

// The index of the interface's RoCE v2 GID with that address, with which hops can use the port now. FailedPrecondition:
// hops that should use it are refused, and why.
absl::StatusOr<int> usable_gid(const RdmaPort& port, const std::string& interface, const routing::PortAddress& address);

// The most bytes of payload that a RoCE packet has on an interface with that MTU: 256 to 4096; 0 below that.
std::uint32_t roce_mtu_of(std::uint64_t ethernet_mtu);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_RDMA_PORTS_H_
