// Ensures that a queue pair is connected to the interface that has the other end's address, and not to another one of
// that host (docs/decisions/0013-right-neighbour.md).
//
// When a queue pair is connected, the kernel takes its Ethernet address from the neighbour table; a program cannot
// choose it. If a host has two interfaces on one wire, Linux's default (arp_ignore=0) lets either interface answer
// for the addresses of both.
#ifndef CABLEWAY_CORE_LINUX_RDMA_RIGHT_NEIGHBOUR_H_
#define CABLEWAY_CORE_LINUX_RDMA_RIGHT_NEIGHBOUR_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "core/linux/os/neighbour_table.h"
#include "core/rdma/ethernet_address.h"
#include "routing/topology/port_address.h"

namespace cableway::host {

// The other end of a cable.
struct CableNeighbour {
  std::string interface;         // this end's, for messages
  std::uint32_t index = 0;       // the same interface's
  routing::PortAddress address;  // the other end's
  EthernetAddress ethernet;      // that of its interface, as the other end has announced it
};

// Call before a queue pair is connected: corrects the kernel's entry. Also OK if there is no entry and this process
// may not set one: the kernel then resolves the address, and confirm_neighbour() checks the result.
// FailedPrecondition: the entry is wrong, and this process may not change it. Unavailable: the table cannot be read,
// or the entry cannot be set.
absl::Status direct_to_neighbour(NeighbourTable& table, const CableNeighbour& neighbour);
// Call after the queue pair is connected. FailedPrecondition: the kernel's entry is wrong. Unavailable: it is gone, or
// cannot be read.
absl::Status confirm_neighbour(NeighbourTable& table, const CableNeighbour& neighbour);

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_RDMA_RIGHT_NEIGHBOUR_H_
