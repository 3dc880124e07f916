// What the cables of one wire can be expected to carry together. A split plug's wire is as fast as its plug only if
// enough functions share its load: each is behind a PCIe link of its own, which is slower than the plug.
#ifndef CABLEWAY_TOOLS_CABLEWAY_DOCTOR_WIRE_EXPECTATION_H_
#define CABLEWAY_TOOLS_CABLEWAY_DOCTOR_WIRE_EXPECTATION_H_

#include <cstdint>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::cli {

// The rate of `cables`, which join the same two plugs, in each direction while both are busy and nothing else is: that
// of the slower plug or, where the PCIe links behind one end could not carry it even at the best measured efficiency
// (routing/topology/pcie_rate.h), what these links are calculated to carry. Mbit/s.
std::uint64_t expected_wire_mbps(const routing::Topology& topology, const std::vector<routing::CableIndex>& cables);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_DOCTOR_WIRE_EXPECTATION_H_
