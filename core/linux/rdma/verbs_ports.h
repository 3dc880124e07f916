// Finds a port's RDMA device and GID by the port's address, the only description of the port that processes moving data
// over it receive.
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_PORTS_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_PORTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/linux/os/neighbour_table.h"
#include "core/linux/os/sysfs.h"
#include "core/linux/rdma/rdma_ports.h"
#include "core/linux/rdma/verbs_device.h"
#include "core/linux/rdma/verbs_devices.h"
#include "core/rdma/ethernet_address.h"
#include "routing/topology/port_address.h"

namespace cableway::host {

struct VerbsPort {
  std::string device;          // "mlx5_0"
  VerbsGid gid;                // the RoCE v2 GID of the address, with its device port
  std::string interface = {};  // the interface with the address
};

// How the kernel (index) and neighbours (Ethernet address) identify an interface.
struct PortInterface {
  std::string name;
  std::uint32_t index = 0;
  EthernetAddress ethernet = {};
};

// FailedPrecondition: there is no such interface, or it has no Ethernet address and is not the loopback interface.
absl::StatusOr<PortInterface> read_port_interface(const Sysfs& sysfs, const std::string& name);

// The GID for an address: IPv6 as it is, without its scope; IPv4 mapped into IPv6.
std::array<std::byte, 16> gid_of(const routing::PortAddress& address);

// The interface that has `address` in this network namespace; "" if none has. A link-local address names its interface
// itself.
std::string interface_with(const routing::PortAddress& address);

// The host's devices, their files, and its neighbour table. Tests supply their own.
struct VerbsHost {
  Sysfs sysfs = Sysfs();
  std::string device_folder = kRdmaDeviceFolder;
  std::function<std::string(const routing::PortAddress&)> interface_of = interface_with;
  NeighbourTable* neighbours = &kernel_neighbours();
  std::function<absl::StatusOr<VerbsDevices::Numbered>(const std::string&)> open_device = [](const std::string& name) {
    return VerbsDevices::of_this_process().open(name);
  };
};

// nullopt: the port has no RDMA device, which is no error. A status explains why an existing device does not work, or
// that no interface has that address. Callable from any thread.
absl::StatusOr<std::optional<VerbsPort>> verbs_port_of(const routing::PortAddress& address, const VerbsHost& host = {});

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_PORTS_H_
