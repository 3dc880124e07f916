#include "tools/cableway/doctor/wire_expectation.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "routing/topology/pcie_rate.h"

namespace cableway::cli {
namespace {

using routing::CableIndex;
using routing::NodeIndex;
using routing::stated_rate_mbps;
using routing::Topology;

// What the PCIe links behind the cables' ports at one node carry together, each counted once. A cable without a known
// link counts with its own rate.
struct Roots {
  double reckoned = 0;
  double at_best = 0;
};

Roots roots_at(const Topology& topology, NodeIndex node, const std::vector<CableIndex>& cables) {
  Roots roots;
  std::set<std::string> counted;
  for (const CableIndex cable : cables) {
    const std::string& root = topology.port_at(cable, node).root;
    const std::optional<std::uint64_t> rate = stated_rate_mbps(topology.node(node).roots, root);
    if (rate && !counted.insert(root).second) continue;
    const auto mbps = static_cast<double>(rate.value_or(topology.cable(cable).rate_mbps));
    roots.reckoned += mbps;
    roots.at_best += rate ? mbps * (routing::kBestPcieEfficiency / routing::kPcieEfficiency) : mbps;
  }
  return roots;
}

}  // namespace

std::uint64_t expected_wire_mbps(const Topology& topology, const std::vector<CableIndex>& cables) {
  const routing::Cable& first = topology.cable(cables.front());
  std::uint64_t sum = 0;
  for (const CableIndex cable : cables) sum += topology.cable(cable).rate_mbps;
  double link = static_cast<double>(stated_rate_mbps(topology.node(first.a.node).plugs, first.a.plug).value_or(sum));
  if (const auto rate = stated_rate_mbps(topology.node(first.b.node).plugs, first.b.plug)) {
    link = std::min(link, static_cast<double>(*rate));
  }
  const Roots a = roots_at(topology, first.a.node, cables);
  const Roots b = roots_at(topology, first.b.node, cables);
  double expected = link;
  for (const Roots& roots : {a, b}) {
    if (roots.at_best < link) expected = std::min(expected, roots.reckoned);
  }
  return static_cast<std::uint64_t>(expected);
}

}  // namespace cableway::cli
