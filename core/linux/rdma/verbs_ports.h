// Which RDMA device a port uses, and with which of its addresses: asked in every process whose data goes over the port,
// by the port's address, which is all that such a process is told of it.
#ifndef CABLEWAY_CORE_LINUX_RDMA_VERBS_PORTS_H_
#define CABLEWAY_CORE_LINUX_RDMA_VERBS_PORTS_H_

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/linux/os/sysfs.h"
#include "core/linux/rdma/rdma_ports.h"
#include "core/linux/rdma/verbs_device.h"
#include "routing/topology/port_address.h"

namespace cableway::host {

struct VerbsPort {
  std::string device;  // "mlx5_0"
  VerbsGid gid;        // its port, and that one's RoCE v2 GID that is the port's address
};

// The GID that stands for an address: IPv6 as it is, without its scope; IPv4 mapped into IPv6.
std::array<std::byte, 16> gid_of(const routing::PortAddress& address);

// The interface that has `address` in this network namespace; "" if none has. A link-local one names it itself.
std::string interface_with(const routing::PortAddress& address);

// Where a host's devices are looked for. Tests have their own.
struct VerbsHost {
  Sysfs sysfs = Sysfs();
  std::string device_folder = kRdmaDeviceFolder;
  std::function<std::string(const routing::PortAddress&)> interface_of = interface_with;
};

// nullopt: there is no RDMA device behind that port, and nothing is wrong. A status: there is one, which should work
// and does not, and why; or no interface has that address. Any thread.
absl::StatusOr<std::optional<VerbsPort>> verbs_port_of(const routing::PortAddress& address, const VerbsHost& host = {});

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_VERBS_PORTS_H_
