// Removes differences from the expected topology that follow from faults of this node's own ports, which have findings.
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPLAINED_DIFFERENCES_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPLAINED_DIFFERENCES_H_

#include <set>
#include <string>

#include "routing/topology/topology.h"
#include "tools/cableway/expectation/comparison.h"

namespace cableway::cli {

// The ports of this node over which no cable is up.
struct OwnFaults {
  std::string node;              // this one
  std::set<std::string> ports;   // their interfaces
  std::set<std::string> beyond;  // the nodes that were at their other ends, if known
};

// Pure. O(nodes * cables). The differences that are left:
//
//   here ---x--- n1 ------ n2     nothing of n1 and n2, which are missing: every expected path to them begins at the
//                                 faulty port
//   here ---x--- n1 ------ n2     n2 is missing, n1 is not: it has another cause
//     +---------- n3 ------+
Comparison without_explained(Comparison comparison, const routing::Topology& expected, const OwnFaults& faults);

// The ports of that node whose cables are in other plugs than expected. Other faults of these cables, such as their
// addresses, follow from that.
std::set<std::string> miswired_ports(const Comparison& comparison, const routing::Topology& found,
                                     const std::string& node);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPLAINED_DIFFERENCES_H_
