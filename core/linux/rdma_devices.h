// The RDMA devices of this host and the GIDs of their Ethernet ports, from /sys/class/infiniband. No libibverbs: a host
// without it still gets told what it has.
#ifndef CABLEWAY_CORE_LINUX_RDMA_DEVICES_H_
#define CABLEWAY_CORE_LINUX_RDMA_DEVICES_H_

#include <string>
#include <vector>

#include "core/linux/sysfs.h"
#include "routing/port_address.h"

namespace cableway::linux_ {

struct RoceGid {
  int index = 0;
  std::string interface;         // that it belongs to
  routing::PortAddress address;  // without a scope
};

// The first port of an RDMA device, which is the only one that every adapter of today has.
struct RdmaDevice {
  std::string name;          // "mlx5_0"
  std::string state;         // as the kernel spells it: "4: ACTIVE"
  std::string pci_function;  // "0000:01:00.0", or "" for one in software
  std::string board;         // the board's GUID, or ""
  std::vector<RoceGid> gids;

  bool is_active() const { return state.starts_with("4:"); }
};

// Those with Ethernet below (RoCE), sorted by name. At most 256 devices and 4,096 GIDs of each are looked at.
std::vector<RdmaDevice> read_rdma_devices(const Sysfs& sysfs);

// The one behind an interface: it has a GID of that name, or, where none has, is the same PCI function. A device whose
// PCI function is another one than the interface's is not meant, whatever its GIDs say: names are those of its own
// network namespace. nullptr where there is none.
const RdmaDevice* rdma_device_of(const std::vector<RdmaDevice>& devices, const std::string& interface,
                                 const std::string& pci_function);

// Of the interface's RoCE v2 GID with that address; -1 where there is none.
int gid_index_of(const RdmaDevice& device, const std::string& interface, const routing::PortAddress& address);

}  // namespace cableway::linux_

#endif  // CABLEWAY_CORE_LINUX_RDMA_DEVICES_H_
