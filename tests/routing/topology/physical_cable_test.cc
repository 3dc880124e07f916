#include "routing/topology/physical_cable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cableway::routing
