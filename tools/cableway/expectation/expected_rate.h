// The rate that the expected topology states for a cable. The measured rate is compared with it, also where the ports
// report no rate, as virtual ones do.
#ifndef CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPECTED_RATE_H_
#define CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPECTED_RATE_H_

#include <cstdint>
#include <string>

#include "core/session/session_message.h"
#include "routing/topology/topology.h"

namespace cableway::cli {

// In Mbit/s. The cable of `node` is found by the names of nodes and interfaces. If the topology has no interface of the
// cable (those of a shape are invented), the result is the rate of the cables between the two nodes, if all have the
// same. 0: none is stated. kDefaultRateMbps counts as none, since topologies without rates have it. Pure.
std::uint64_t expected_rate_mbps(const routing::Topology& expected, const std::string& node, const ProbedCable& cable);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_EXPECTATION_EXPECTED_RATE_H_
