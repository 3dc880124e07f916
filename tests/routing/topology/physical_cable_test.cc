#include "routing/topology/physical_cable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Cable with_plugs(Cable cable, const char* plug_a, const char* plug_b) {
  cable.a.plug = plug_a;
  cable.b.plug = plug_b;
  return cable;
}

Cable with_rate(Cable cable, std::uint64_t rate_mbps) {
  cable.rate_mbps = rate_mbps;
  return cable;
}

Cable with_roots(Cable cable, const char* root_a, const char* root_b) {
  cable.a.root = root_a;
  cable.b.root = root_b;
  return cable;
}

// One wire between the plugs p0 of n0 and p1 of n1, whose functions have these rates.
std::uint64_t rate_of_wire(std::uint64_t first, std::uint64_t second, std::vector<SharedPart> plugs_of_n0,
                           std::vector<SharedPart> plugs_of_n1) {
  std::vector<Node> nodes = sample_nodes(2);
  nodes[0].plugs = std::move(plugs_of_n0);
  nodes[1].plugs = std::move(plugs_of_n1);
  const PhysicalCables physical =
      physical_cables(make_topology(nodes, {with_rate(with_plugs(sample_cable(0, 0, 1), "p0", "p1"), first),
                                            with_rate(with_plugs(sample_cable(1, 0, 1), "p0", "p1"), second)}));
  EXPECT_EQ(physical.cables.size(), 1U);
  return physical.cables[0].rate_mbps;
}

TEST(PhysicalCable, IsOneCableWithoutPlugs) {
  const Topology topology = sample_topology(3, {{0, 1}, {0, 1}, {1, 2}});
  const PhysicalCables physical = physical_cables(topology);
  ASSERT_EQ(physical.cables.size(), 3U);
  EXPECT_THAT(physical.place_of_cable, ElementsAre(0, 1, 2));
  EXPECT_THAT(physical.connectors, IsEmpty());
  EXPECT_THAT(physical.cables[1].cables, ElementsAre(CableIndex{1}));
  EXPECT_EQ(physical.cables[1].a, NodeIndex{0});
  EXPECT_EQ(physical.cables[1].b, NodeIndex{1});
  EXPECT_EQ(physical.cables[1].rate_mbps, kDefaultRateMbps);
}

TEST(PhysicalCable, TwinsHaveTheRateOfTheFasterOne) {
  std::vector<Cable> cables = {with_plugs(sample_cable(0, 0, 1), "p0", "p1"), sample_cable(1, 0, 1),
                               with_plugs(sample_cable(2, 0, 1), "p0", "p1")};
  cables[0].rate_mbps = 100'000;
  cables[2].rate_mbps = 200'000;
  const PhysicalCables physical = physical_cables(make_topology(sample_nodes(2), cables));
  ASSERT_EQ(physical.cables.size(), 2U);
  EXPECT_THAT(physical.cables[0].cables, ElementsAre(CableIndex{0}, CableIndex{2}));
  EXPECT_EQ(physical.cables[0].rate_mbps, 200'000U);
  EXPECT_THAT(physical.place_of_cable, ElementsAre(0, 1, 0));
  EXPECT_THAT(physical.connectors, IsEmpty());
}

TEST(PhysicalCable, AWireCarriesItsFunctionsTogetherWithinItsPlugs) {
  EXPECT_EQ(rate_of_wire(98'300, 98'300, {{"p0", 200'000}}, {{"p1", 200'000}}), 196'600U) << "its functions";
  EXPECT_EQ(rate_of_wire(98'300, 49'100, {{"p0", 200'000}}, {{"p1", 200'000}}), 147'400U) << "one of them slower";
  EXPECT_EQ(rate_of_wire(98'300, 98'300, {{"p0", 100'000}}, {{"p1", 200'000}}), 100'000U) << "the plug at a";
  EXPECT_EQ(rate_of_wire(98'300, 98'300, {{"p0", 200'000}}, {{"p1", 100'000}}), 100'000U) << "the plug at b";
  EXPECT_EQ(rate_of_wire(200'000, 200'000, {{"p0", 200'000}}, {{"p1", 200'000}}), 200'000U);
  EXPECT_EQ(rate_of_wire(98'300, 98'300, {{"p1", 200'000}}, {}), 98'300U) << "of other plugs";
  EXPECT_EQ(rate_of_wire(98'300, 49'100, {{"p0", 200'000}}, {}), 98'300U) << "a plug of unknown rate at one end";
}

TEST(PhysicalCable, ASharedConnectorHasTheStatedRateOfItsPlug) {
  std::vector<Node> nodes = sample_nodes(3);
  const std::vector<Cable> cables = {with_rate(with_plugs(sample_cable(0, 0, 1), "p0", "p0"), 98'300),
                                     with_rate(with_plugs(sample_cable(1, 0, 2), "p0", "p0"), 49'100)};
  const auto rate = [&] { return physical_cables(make_topology(nodes, cables)).connectors.at(0).rate_mbps; };
  EXPECT_EQ(rate(), 98'300U) << "the fastest wire's";
  nodes[0].plugs = {{"p0", 200'000}, {"p1", 1}};
  EXPECT_EQ(rate(), 200'000U);
}

TEST(PhysicalCable, APlugAtOneEndOnlyIsASharedConnector) {
  const Topology topology = make_topology(
      sample_nodes(3), {with_plugs(sample_cable(0, 0, 1), "p0", ""), with_plugs(sample_cable(1, 0, 2), "p0", "p0")});
  const PhysicalCables physical = physical_cables(topology);
  ASSERT_EQ(physical.cables.size(), 2U);
  ASSERT_EQ(physical.connectors.size(), 1U);
  EXPECT_EQ(physical.connectors[0].node, NodeIndex{0});
  EXPECT_THAT(physical.connectors[0].physical_cables, ElementsAre(0, 1));
  EXPECT_EQ(physical.cables[0].shared_at_a, 0U);
  EXPECT_EQ(physical.cables[0].shared_at_b, std::nullopt);
  EXPECT_EQ(connector_name(topology, physical, physical.connectors[0]), "n0 plug p0");
}

TEST(PhysicalCable, APortOnASwitchIsASharedConnector) {
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2});
  cables[2].rate_mbps = 25'000;
  cables.push_back(sample_cable(7, 0, 1));
  const Topology topology = make_topology(sample_nodes(3), cables);
  const PhysicalCables physical = physical_cables(topology);
  ASSERT_EQ(physical.cables.size(), 4U);
  ASSERT_EQ(physical.connectors.size(), 3U);
  EXPECT_THAT(physical.connectors[0].physical_cables, ElementsAre(0, 2));  // c0 n0-n1, c7 n0-n1, c1 n0-n2, c2 n1-n2
  EXPECT_THAT(physical.connectors[2].physical_cables, ElementsAre(2, 3));
  EXPECT_EQ(physical.connectors[0].rate_mbps, 10'000U);
  EXPECT_EQ(physical.connectors[1].rate_mbps, 25'000U);
  EXPECT_EQ(physical.cables[1].shared_at_a, std::nullopt);
  EXPECT_EQ(physical.cables[3].shared_at_a, 1U);
  EXPECT_EQ(physical.cables[3].shared_at_b, 2U);
  EXPECT_EQ(connector_name(topology, physical, physical.connectors[1]), "n1 sw0");
}

TEST(PhysicalCable, APortIsIdentifiedByAddressValue) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 2)};
  for (Cable& cable : cables) cable.a.interface = "eth0";
  cables[0].a.address = "fd00::1";
  cables[0].b.address = "fd00::2";
  cables[1].a.address = "fd00:0::1";
  cables[1].b.address = "fd00::3";
  EXPECT_EQ(physical_cables(make_topology(sample_nodes(3), cables)).connectors.size(), 1U);
}

TEST(PhysicalCable, TwinsOnASwitchAreOneWireToEachNeighbour) {
  // Each node has one plug with two ports there; each of them hears both ports of the others.
  std::vector<Cable> cables;
  for (std::uint32_t subnet = 0; subnet < 2; ++subnet) {
    for (Cable cable : switch_segment(10 * subnet, {0, 1, 2})) {
      cable.a.interface = cable.b.interface = subnet == 0 ? "sw0" : "sw1";
      cables.push_back(with_plugs(cable, "p0", "p0"));
    }
  }
  const PhysicalCables physical = physical_cables(make_topology(sample_nodes(3), cables));
  ASSERT_EQ(physical.cables.size(), 3U);
  for (const PhysicalCable& cable : physical.cables) EXPECT_EQ(cable.cables.size(), 2U);
  EXPECT_EQ(physical.connectors.size(), 3U);
}

// n0 has two plugs, each of two functions on the roots r0 and r1, as a DGX Spark; n1 and n2 are at their far ends.
Topology spark(std::uint64_t rate_mbps, std::vector<SharedPart> roots) {
  std::vector<Cable> cables;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Cable cable = with_plugs(sample_cable(i, 0, 1 + i / 2), i < 2 ? "p0" : "p1", "p0");
    cables.push_back(with_rate(with_roots(cable, i % 2 == 0 ? "r0" : "r1", ""), rate_mbps));
  }
  std::vector<Node> nodes = sample_nodes(3);
  nodes[0].roots = std::move(roots);
  return make_topology(nodes, cables);
}

TEST(PhysicalCable, CablesOfTwoPlugsShareARoot) {
  const Topology topology = spark(98'200, {{"r1", 98'300}, {"r0", 98'200}});
  const PhysicalCables physical = physical_cables(topology);
  EXPECT_EQ(physical.cables.size(), 2U);
  EXPECT_THAT(physical.connectors, IsEmpty());
  EXPECT_THAT(physical.roots, ElementsAre(SharedRoot{NodeIndex{0}, "r0", {CableIndex{0}, CableIndex{2}}, 98'200},
                                          SharedRoot{NodeIndex{0}, "r1", {CableIndex{1}, CableIndex{3}}, 98'300}));
  EXPECT_THAT(physical.roots_of_cable, ElementsAre(CableRoots{0, std::nullopt}, CableRoots{1, std::nullopt},
                                                   CableRoots{0, std::nullopt}, CableRoots{1, std::nullopt}));
  EXPECT_EQ(root_name(topology, physical.roots[1]), "n0 root r1");
}

TEST(PhysicalCable, ARootOfUnknownRateHasThatOfItsFastestCable) {
  std::vector<Cable> cables = {with_rate(with_roots(sample_cable(0, 0, 1), "r0", ""), 49'100),
                               with_rate(with_roots(sample_cable(1, 0, 2), "r0", ""), 98'300)};
  const PhysicalCables physical = physical_cables(make_topology(sample_nodes(3), cables));
  ASSERT_EQ(physical.roots.size(), 1U);
  EXPECT_EQ(physical.roots[0].rate_mbps, 98'300U);
}

TEST(PhysicalCable, ARootThatCarriesAllItsPortsIsLeftOut) {
  const auto roots = [](std::uint64_t rate) {
    return physical_cables(spark(100'000, {{"r0", rate}, {"r1", rate}})).roots.size();
  };
  EXPECT_EQ(roots(196'600), 2U);
  EXPECT_EQ(roots(199'999), 2U);
  EXPECT_EQ(roots(200'000), 0U) << "just as much";
  EXPECT_EQ(roots(393'200), 0U);
  const PhysicalCables physical = physical_cables(spark(100'000, {{"r0", 200'000}, {"r1", 100'000}}));
  ASSERT_EQ(physical.roots.size(), 1U);
  EXPECT_EQ(physical.roots[0].name, "r1");
  EXPECT_THAT(physical.roots_of_cable,
              ElementsAre(CableRoots{}, CableRoots{0, std::nullopt}, CableRoots{}, CableRoots{0, std::nullopt}));
}

// A port on a switch ends several cables, but carries no more than its rate.
TEST(PhysicalCable, APortOfSeveralCablesCountsOnceForItsRoot) {
  std::vector<Cable> cables;
  for (Cable& cable : switch_segment(0, {0, 1, 2})) cables.push_back(with_roots(cable, "r0", "r0"));
  EXPECT_THAT(physical_cables(make_topology(sample_nodes(3), cables)).roots, IsEmpty());
  cables.push_back(with_roots(sample_cable(7, 0, 1), "r0", ""));  // a second port of n0
  const PhysicalCables physical = physical_cables(make_topology(sample_nodes(3), cables));
  ASSERT_EQ(physical.roots.size(), 1U);
  EXPECT_EQ(physical.roots[0].node, NodeIndex{0});
  EXPECT_EQ(physical.roots[0].cables.size(), 3U);
}

TEST(PhysicalCable, ACableMayHaveASharedRootAtEachEnd) {
  std::vector<Cable> cables;
  for (std::uint32_t i = 0; i < 2; ++i) cables.push_back(with_roots(sample_cable(i, 0, 1), "r0", "r0"));
  const PhysicalCables physical = physical_cables(make_topology(sample_nodes(2), cables));
  ASSERT_EQ(physical.roots.size(), 2U) << "roots of two nodes, although they have one name";
  EXPECT_EQ(physical.roots[0].node, NodeIndex{0});
  EXPECT_EQ(physical.roots[1].node, NodeIndex{1});
  EXPECT_THAT(physical.roots_of_cable, ElementsAre(CableRoots{0, 1}, CableRoots{0, 1}));
}

}  // namespace
}  // namespace cableway::routing
