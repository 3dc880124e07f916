// Compares the topology that was found with the one that is expected.
//
// Plugs are identified by the names of hosts and interfaces, whatever both topologies call the plugs (shared_jacks.h).
// Each difference has one cause: the cables of a missing node are not listed one by one, and two cables whose ends are
// exchanged are one difference:
//
//     expected   n0.p0 ---- n1.p1   n1.p0 ---- n2.p1
//     found      n0.p0 ---- n1.p0   n1.p1 ---- n2.p1        swap plugs p0 and p1 of n1
//
// Where the names of interfaces are not given, or none of them exists on the hosts (those of a shape are invented),
// only the number of cables between every two nodes is compared. A switch is no cable: it joins each of its ports to
// all others, so every pair of ports is compared as a cable, and no swap is looked for there.
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_COMPARISON_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_COMPARISON_H_

#include <vector>

#include "routing/topology/topology.h"
#include "tools/cableway/expectation/difference.h"

namespace cableway::cli {

struct Comparison {
  bool by_interface = true;             // false: only numbers of cables between nodes were compared
  std::vector<Difference> differences;  // nodes first, then cables in the order of DifferenceKind; empty: none
};

// Pure. O(cables log cables).
Comparison compare_topologies(const routing::Topology& expected, const routing::Topology& found);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_COMPARISON_H_
