// The kernel's neighbour table, which maps an IP address on an interface's cable to an Ethernet address. Read and
// changed over rtnetlink.
#ifndef CABLEWAY_CORE_LINUX_OS_NEIGHBOUR_TABLE_H_
#define CABLEWAY_CORE_LINUX_OS_NEIGHBOUR_TABLE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/rdma/ethernet_address.h"
#include "routing/topology/port_address.h"

namespace cableway::host {

// Callable from any thread. `interface` is an index of the calling thread's network namespace; scopes of addresses are
// ignored.
class NeighbourTable {
 public:
  virtual ~NeighbourTable() = default;

  // nullopt: the table has no usable entry. Unavailable: the table cannot be read.
  virtual absl::StatusOr<std::optional<EthernetAddress>> find(std::uint32_t interface,
                                                              const routing::PortAddress& address) = 0;
  // Sets a reachable entry, as if the neighbour had just answered: the kernel probes that Ethernet address before it
  // invalidates the entry.
  // PermissionDenied: the process does not have CAP_NET_ADMIN. Unavailable: the entry cannot be set.
  virtual absl::Status set(std::uint32_t interface, const routing::PortAddress& address,
                           const EthernetAddress& ethernet) = 0;
};

// The table of this host. Each call uses a socket of its own, and waits for up to a second.
NeighbourTable& kernel_neighbours();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_OS_NEIGHBOUR_TABLE_H_
