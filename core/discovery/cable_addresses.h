// Which two addresses data takes over a cable, and whether the ports at its ends fit together at all.
#ifndef CABLEWAY_CORE_DISCOVERY_CABLE_ADDRESSES_H_
#define CABLEWAY_CORE_DISCOVERY_CABLE_ADDRESSES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/discovery/port_hello.h"
#include "core/discovery/port_inventory.h"

namespace cableway {

struct CableAddresses {
  routing::PortAddress ours;    // a link-local one has its scope
  routing::PortAddress theirs;  // likewise, with our interface: as this node must write it to reach the port
  std::string remark;           // what the operator should mend although the cable works; mostly empty
};

// Each of a port's addresses as its hello says them. `all` are the ports of the node, `port` among them.
std::vector<HelloAddress> hello_addresses(const PortFacts& port, const std::vector<PortFacts>& all);

// The pair that both ends find from the same two hellos: IPv4 before IPv6 before link-local IPv6, but an address whose
// subnet another port of its node shares comes last, since kernels choose ports by subnet.
//
// FailedPrecondition says what to mend: MTUs that differ, one address at both ends, no two addresses of one subnet.
absl::StatusOr<CableAddresses> match_ports(const PortFacts& port, const std::vector<HelloAddress>& ours,
                                           const PortHello& theirs);

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_CABLE_ADDRESSES_H_
