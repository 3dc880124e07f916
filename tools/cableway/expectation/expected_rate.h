// The rate that the expected topology states for a cable: what its measured rate is compared with, also where the ports
// do not know theirs, as virtual ones.
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPECTED_RATE_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPECTED_RATE_H_

#include <cstdint>
#include <string>

#include "core/session/session_message.h"
#include "routing/topology/topology.h"

namespace cableway::cli {

// In Mbit/s, of that cable of `node`, by the names of nodes and interfaces. Where the topology has no interface of the
// cable (those of a shape are invented), it is the rate of the cables between the two nodes, if all have the same.
// 0: none is stated. kDefaultRateMbps states none: topologies without rates have it, too. Pure.
std::uint64_t expected_rate_mbps(const routing::Topology& expected, const std::string& node, const ProbedCable& cable);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPECTED_RATE_H_
