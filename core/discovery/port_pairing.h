// Pairs the ports that two nodes have on one wire: each pair is a cable.
//
// A split port has several functions on its wire, and each hears every function at the other end:
//
//     n0 a --+        +-- a n1        two cables, a-a and b-b;
//            +--------+               a-b and b-a are the same wire once more, and would only
//     n0 b --+        +-- b n1        make two flows leave through one function
#ifndef CABLEWAY_CORE_DISCOVERY_PORT_PAIRING_H_
#define CABLEWAY_CORE_DISCOVERY_PORT_PAIRING_H_

#include <string>
#include <vector>

#include "core/discovery/port_hello.h"
#include "core/ports/port_inventory.h"

namespace cableway {

// A port on the wire as its hellos describe it.
struct WirePort {
  PortId port = 0;
  std::string interface;
  std::vector<HelloAddress> addresses;
};

struct PortPair {
  PortId ours = 0;
  PortId theirs = 0;
  friend auto operator<=>(const PortPair&, const PortPair&) = default;
};

// A wire that joins this node and another, as this node sees it.
struct Wire {
  std::vector<WirePort> ours;
  std::vector<WirePort> theirs;
  std::vector<PortPair> heard;  // the two ports hear each other; only such ports can be a pair
  std::vector<PortPair> up;     // of these, those that are a cable already
};

// Each port is in at most one pair. Both ends choose the same pairs from the same ports:
//   1. by subnet: pairs with addresses in one subnet that is not link-local, the best first (cable_addresses.h);
//   2. of the ports left, those that are a cable already, so that a port which comes or goes moves no other;
//   3. of the ports left, by the order of the interfaces' names among ports that hear one of the other node: the first
//      with the first; a port that does not hear its counterpart is paired with the next that it hears.
// So twins that have only link-local addresses are paired by name. Pure. The result is sorted.
std::vector<PortPair> pair_ports(const Wire& wire);

}  // namespace cableway

#endif  // CABLEWAY_CORE_DISCOVERY_PORT_PAIRING_H_
