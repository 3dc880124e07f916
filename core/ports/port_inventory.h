// The ports of this node: the network interfaces whose cables Cableway may use, and the attributes of each.
// core/linux/ports/netlink_inventory.h reads them from the kernel; the simulator's fabric has its own.
#ifndef CABLEWAY_CORE_PORTS_PORT_INVENTORY_H_
#define CABLEWAY_CORE_PORTS_PORT_INVENTORY_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "routing/topology/port_address.h"

namespace cableway {

// Identifies a port of one node for as long as the node runs; on Linux the interface index. Never 0.
using PortId = std::uint32_t;

// An address of a port, and the prefix that its cable's other end must share.
struct PortPrefix {
  routing::PortAddress address;    // a link-local IPv6 address has the interface's name as its scope
  std::uint8_t prefix_length = 0;  // bits

  friend bool operator==(const PortPrefix&, const PortPrefix&) = default;
};

struct PortFacts {
  PortId id = 0;
  std::string interface;
  bool carrier = false;   // administratively up, and the link is detected
  std::uint32_t mtu = 0;  // bytes
  // What it can carry in each direction: the lesser of its link and its root; 0: unknown to the kernel.
  std::uint64_t rate_mbps = 0;
  std::uint64_t link_mbps = 0;  // of the link alone; 0: unknown to the kernel
  // Those that Cableway may use, never empty: IPv4 first, then global IPv6, then link-local IPv6, each in the kernel's
  // order.
  std::vector<PortPrefix> addresses;
  std::string plug;  // ports with the same value share one physical connector; "": unknown
  // The PCIe link behind the port: ports with the same value share it. "": unknown, or none.
  std::string root;
  std::uint64_t root_mbps = 0;  // of the root, as it runs now; 0: unknown
  // The RDMA device behind the interface, with its port number if the device has several: "mlx5_0", "mlx4_0:2"; "":
  // none.
  std::string rdma_device;
  int gid_index = -1;  // of the RoCE v2 GID of addresses.front(); -1: RDMA cannot be used here now
  // Why RDMA cannot be used, so that hops which should use it are refused; without a device: that there was one. "": it
  // can be used, or there has been no device.
  std::string rdma_trouble;
  std::uint32_t rdma_mtu = 0;  // bytes of payload in its packets; 0: the device was not queried

  friend bool operator==(const PortFacts&, const PortFacts&) = default;
};

inline bool has_family(const PortFacts& port, bool is_ipv6) {
  return std::any_of(port.addresses.begin(), port.addresses.end(),
                     [&](const PortPrefix& prefix) { return prefix.address.is_ipv6 == is_ipv6; });
}

// An interface, or a part of one, that is not used, and why; for display. An interface may have several, even if it is
// a port.
struct RejectedPort {
  std::string interface;  // or an entry of CABLEWAY_PORTS that matches none
  std::string reason;
  bool requested = false;  // CABLEWAY_PORTS selects it, so an operator should fix it
  friend bool operator==(const RejectedPort&, const RejectedPort&) = default;
};

// One thread: the node's.
class PortInventory {
 public:
  virtual ~PortInventory() = default;

  // The current ports, sorted by ID.
  virtual std::vector<PortFacts> ports() const = 0;
  virtual std::vector<RejectedPort> rejected() const = 0;
  // `changed` is called after ports(), or an `requested` entry of rejected(), has changed, never from inside a call of
  // the inventory. One listener.
  virtual void watch(std::function<void()> changed) = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_PORTS_PORT_INVENTORY_H_
