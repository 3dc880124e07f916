// The ports of this node: which network interfaces have cables that Cableway may use, and what is known of each.
// core/linux/ports/netlink_inventory.h asks the kernel; the simulator's fabric answers for itself.
#ifndef CABLEWAY_CORE_DISCOVERY_PORT_INVENTORY_H_
#define CABLEWAY_CORE_DISCOVERY_PORT_INVENTORY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "routing/topology/port_address.h"

namespace cableway {

// Tells the ports of one node apart for as long as it runs; on Linux the interface's index. Never 0.
using PortId = std::uint32_t;

// An address of a port and the prefix that says which addresses its cable's other end may have.
struct PortPrefix {
  routing::PortAddress address;    // a link-local IPv6 address has the interface's name as its scope
  std::uint8_t prefix_length = 0;  // bits

  friend bool operator==(const PortPrefix&, const PortPrefix&) = default;
};

struct PortFacts {
  PortId id = 0;
  std::string interface;
  bool carrier = false;         // administratively up, and the other end is there
  std::uint32_t mtu = 0;        // bytes
  std::uint64_t rate_mbps = 0;  // each direction; 0: the kernel does not know
  // Those that Cableway may use, never none: IPv4 first, then global IPv6, then link-local IPv6, each in the kernel's
  // order.
  std::vector<PortPrefix> addresses;
  std::string plug;  // ports with the same are halves of one physical connector; "" where nothing says so
  // Which port of which RDMA device is behind it: "mlx5_0", "mlx4_0:2", or "" for none.
  std::string rdma_device;
  int gid_index = -1;  // of the RoCE v2 GID that is addresses.front(); -1: RDMA cannot be used here now
  // Why it cannot, so that hops which should use it are refused; with no device: that there was one. "": it can, or
  // there has been none.
  std::string rdma_trouble;
  std::uint32_t rdma_mtu = 0;  // bytes of payload in its packets; 0: the device was not asked

  friend bool operator==(const PortFacts&, const PortFacts&) = default;
};

// An interface that is not used, or something of it that is not, and why: for people. One interface may have several,
// also one that is a port.
struct RejectedPort {
  std::string interface;  // or an entry of CABLEWAY_PORTS that is about none
  std::string reason;
  bool asked_for = false;  // CABLEWAY_PORTS means it to be used: something is to be mended
  friend bool operator==(const RejectedPort&, const RejectedPort&) = default;
};

// One thread: the node's.
class PortInventory {
 public:
  virtual ~PortInventory() = default;

  // As of now, sorted by id.
  virtual std::vector<PortFacts> ports() const = 0;
  virtual std::vector<RejectedPort> rejected() const = 0;
  // `changed` is called after ports(), or what of rejected() was asked for, has become different, never from inside a
  // call of the inventory's. One listener.
  virtual void watch(std::function<void()> changed) = 0;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_PORT_INVENTORY_H_
