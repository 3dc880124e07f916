// Chooses the two addresses that data uses over a cable, and checks that the ports at its ends are compatible.
#ifndef CABLEWAY_CORE_DISCOVERY_CABLE_ADDRESSES_H_
#define CABLEWAY_CORE_DISCOVERY_CABLE_ADDRESSES_H_

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "core/discovery/port_hello.h"
#include "core/ports/port_inventory.h"

namespace cableway {

// How well a pair of addresses suits a cable: smaller is better. Both ends compute the same rank.
using AddressRank = std::tuple<bool, int, routing::PortAddress, routing::PortAddress>;

struct CableAddresses {
  routing::PortAddress ours;    // a link-local one has its scope
  routing::PortAddress theirs;  // likewise, with our interface, as this node needs it to connect
  std::string remark;           // a configuration error to fix although the cable works; usually empty
};

// The port's addresses as its hello carries them. `all`: the node's ports, including `port`.
std::vector<HelloAddress> hello_addresses(const PortFacts& port, const std::vector<PortFacts>& all);

// The best of the pairs in one subnet that is not link-local; nullopt if there is none.
std::optional<AddressRank> best_rank(const std::vector<HelloAddress>& ours, const std::vector<HelloAddress>& theirs);

// Both ends choose the same pair from the same two hellos: IPv4 before IPv6 before link-local IPv6, but an address
// whose subnet another port of its node shares comes last, since kernels choose ports by subnet.
//
// FailedPrecondition says what to fix: MTUs that differ, the same address at both ends, no two addresses in one subnet.
absl::StatusOr<CableAddresses> match_ports(const PortFacts& port, const std::vector<HelloAddress>& ours,
                                           const PortHello& theirs);

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_CABLE_ADDRESSES_H_
