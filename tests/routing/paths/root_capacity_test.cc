// Maximum flows where cables share PCIe roots.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routing/paths/max_flow.h"
#include "routing/shapes/topology_generator.h"
#include "routing/topology/physical_cable.h"
#include "tests/routing/paths/naive_max_flow.h"
#include "tests/routing/paths/random_hosts.h"
#include "tests/routing/sample_topologies.h"
#include "tests/slow_build.h"

namespace cableway::routing {
namespace {

Topology generated(const std::string& spec) {
  absl::StatusOr<Topology> made = generate_topology(spec);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

TEST(RootCapacity, LimitsTwoSparksToTheirRoots) {
  const Topology two = generated("sparks:2");
  EXPECT_EQ(max_flow_mbps(two, NodeIndex{0}, NodeIndex{1}), 2 * 98'300U);
  // One wire of the two brings as much.
  const std::vector<Cable> one(two.cables().begin(), two.cables().begin() + 2);
  ASSERT_EQ(one[0].a.plug, one[1].a.plug);
  const Topology single = make_topology({two.nodes().begin(), two.nodes().end()}, one);
  EXPECT_EQ(max_flow_mbps(single, NodeIndex{0}, NodeIndex{1}), 2 * 98'300U);
}

TEST(RootCapacity, LimitsARingOfSparksToTheRootsOfOneHost) {
  for (const char* spec : {"sparks:3", "sparks:4", "sparks:7"}) {
    const Topology ring = generated(spec);
    for (std::uint32_t to = 1; to < ring.node_count(); ++to) {
      EXPECT_EQ(max_flow_mbps(ring, NodeIndex{0}, NodeIndex{to}), 2 * 98'300U) << spec << " to " << to;
    }
  }
}

// Half a link, as on a host whose firmware trained it to x2: only the other root carries the full rate.
TEST(RootCapacity, CountsANarrowRoot) {
  const Topology ring = generated("sparks:4");
  std::vector<Node> nodes(ring.nodes().begin(), ring.nodes().end());
  std::vector<Cable> cables(ring.cables().begin(), ring.cables().end());
  nodes[1].roots[0].rate_mbps = 49'100;
  for (Cable& cable : cables) {
    const Port& port = cable.a.node == NodeIndex{1} ? cable.a : cable.b;
    if (port.node == NodeIndex{1} && port.root == "r0") cable.rate_mbps = 49'100;
  }
  const Topology narrow = make_topology(nodes, cables);
  EXPECT_EQ(max_flow_mbps(narrow, NodeIndex{0}, NodeIndex{1}), 98'300U + 49'100);
  EXPECT_EQ(max_flow_mbps(narrow, NodeIndex{0}, NodeIndex{2}), 2 * 98'300U) << "the other way around is left";
}

TEST(RootCapacity, PairsRootsByTheirCables) {
  // Two plugs between two hosts, and one slow root at each: what one function delivers, the root behind it must carry.
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1), sample_cable(2, 0, 1),
                               sample_cable(3, 0, 1)};
  for (std::size_t i = 0; i < cables.size(); ++i) {
    for (Port* port : {&cables[i].a, &cables[i].b}) {
      port->plug = i < 2 ? "p0" : "p1";
      port->root = i % 2 == 0 ? "r0" : "r1";
    }
    cables[i].rate_mbps = 2000;
  }
  std::vector<Node> nodes = sample_nodes(2);
  nodes[0].plugs = nodes[1].plugs = {{"p0", 20'000}, {"p1", 20'000}};
  nodes[0].roots = {{"r0", 2000}, {"r1", 3000}};
  nodes[1].roots = {{"r0", 3000}, {"r1", 2000}};
  EXPECT_EQ(max_flow_mbps(make_topology(nodes, cables), NodeIndex{0}, NodeIndex{1}), 4000U);
}

// Whether flow can mix: a wire or connector with cables behind different roots is slower than these together.
bool may_mix(const Topology& topology, const PhysicalCables& physical) {
  const auto mixes = [&](const std::vector<std::size_t>& wires, std::uint64_t rate_mbps) {
    std::uint64_t sum = 0;
    std::set<std::pair<std::string, std::string>> roots;
    for (const std::size_t wire : wires) {
      for (const CableIndex cable : physical.cables[wire].cables) {
        sum += topology.cable(cable).rate_mbps;
        roots.insert({topology.cable(cable).a.root, topology.cable(cable).b.root});
      }
    }
    return roots.size() > 1 && rate_mbps < sum;
  };
  bool any = false;
  for (std::size_t i = 0; i < physical.cables.size(); ++i) any = any || mixes({i}, physical.cables[i].rate_mbps);
  for (const SharedConnector& each : physical.connectors) any = any || mixes(each.physical_cables, each.rate_mbps);
  return any;
}

TEST(RootCapacity, IsThatOfALinearProgramUnlessFlowMixes) {
  std::mt19937 random(3);
  std::size_t with_roots = 0;
  std::size_t mixing = 0;
  for (int round = 0; round < test::cases_here(2000); ++round) {
    SCOPED_TRACE(round);
    const Topology topology = random_hosts(random);
    const PhysicalCables physical = physical_cables(topology);
    const NodeIndex from{0};
    const NodeIndex to{static_cast<std::uint32_t>(1 + random() % (topology.node_count() - 1))};
    const auto found = static_cast<double>(max_flow_mbps(topology, from, to));
    const double exact = naive_max_flow_mbps(topology, physical, from, to);
    EXPECT_GE(found, exact - 1e-3);
    EXPECT_EQ(max_flow_mbps(topology, to, from), max_flow_mbps(topology, from, to));
    if (may_mix(topology, physical)) {
      ++mixing;
      continue;
    }
    EXPECT_NEAR(found, exact, 1e-3);
    with_roots += physical.roots.empty() ? 0 : 1;
  }
  EXPECT_GT(with_roots, test::cases_here(150U));
  EXPECT_GT(mixing, test::cases_here(200U));
}

}  // namespace
}  // namespace cableway::routing
