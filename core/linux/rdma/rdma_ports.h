// The ports of this host's RDMA devices and their GIDs, from /sys/class/infiniband. Does not use libibverbs, so that a
// host without it still gets a report of its devices.
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
  std::string interface;         // the interface that it belongs to
  routing::PortAddress address;  // without a scope
  int version = 2;               // of RoCE, 1 or 2
};

// One port of an RDMA device: most devices have one, a ConnectX-3 has two.
struct RdmaPort {
  std::string device;        // "mlx5_0"
  std::uint8_t number = 1;   // port number on the device, from 1
  bool only = true;          // the device has no other port
  std::string link_layer;    // "Ethernet" (RoCE) or "InfiniBand"
  std::string state;         // as the kernel spells it: "4: ACTIVE"
  std::string pci_function;  // "0000:01:00.0", or "" for a software device
  std::string board;         // the board's GUID, or ""
  std::vector<RoceGid> gids;
  // Why no process here can use the device, regardless of the state of its ports; "" if no reason is known.
  std::string trouble;
  std::uint32_t mtu = 0;  // bytes of payload in a packet, as reported by the device; 0: not queried

  std::string name() const;  // "mlx5_0", or "mlx4_0:2" where the device has several
  bool is_ethernet() const { return link_layer == "Ethernet"; }
  bool is_active() const { return state.starts_with("4:"); }
};

// A network interface as described by its driver.
struct InterfaceHardware {
  std::string name;
  std::string pci_function = {};  // "" for a software device
  int port = 0;                   // of the function, from 0: a ConnectX-3 has both of its ports on one
};

InterfaceHardware read_interface(const Sysfs& sysfs, const std::string& name);

// The Ethernet and InfiniBand ports, sorted by device and number. Reads at most 256 devices, the first 16 ports of each
// and 4,096 GIDs per port. Processes use the devices through files in `device_folder`.
std::vector<RdmaPort> read_rdma_ports(const Sysfs& sysfs, const std::string& device_folder = kRdmaDeviceFolder);

// The port behind an interface: it has a GID of that interface name or, if no port has one, is the same port of the
// same PCI function. A device with a PCI function other than the interface's never matches, whatever its GIDs are:
// interface names are local to the device's network namespace. nullptr if there is none.
const RdmaPort* rdma_port_of(const std::vector<RdmaPort>& ports, const InterfaceHardware& interface);

// The index of the interface's RoCE v2 GID with that address, if hops can use the port now. FailedPrecondition explains
// why hops that need it are refused.
absl::StatusOr<int> usable_gid(const RdmaPort& port, const std::string& interface, const routing::PortAddress& address);

// The largest RoCE payload per packet on an interface with that MTU: 256 to 4096 bytes; 0 below that.
std::uint32_t roce_mtu_of(std::uint64_t ethernet_mtu);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_RDMA_PORTS_H_
