#include "sim/flow_model/cable_resources.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "routing/paths/route_table.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

using routing::Cable;
using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;
using testing::Each;
using testing::ElementsAre;

std::vector<ResourceIndex> used_from(const Topology& topology, std::uint32_t source, std::uint32_t destination) {
  std::vector<ResourceIndex> used;
  CableResources(topology).append_path(
      routing::compute_routes(topology, NodeIndex{source}).path_for_flow(NodeIndex{destination}, 0), used);
  return used;
}

TEST(CableResourcesTest, ACableIsTwoResources) {
  const Topology line = routing::sample_topology(3, routing::line_pairs(3));
  const CableResources resources(line);
  EXPECT_EQ(resources.count(), 4U);
  EXPECT_THAT(resources.capacity(), Each(1.25e9));  // 10 Gbit/s
  EXPECT_THAT(used_from(line, 0, 2), ElementsAre(0, 2));
  EXPECT_THAT(used_from(line, 2, 0), ElementsAre(3, 1));
  EXPECT_THAT(used_from(line, 1, 1), ElementsAre());
}

TEST(CableResourcesTest, TwinsOfOneWireShareIt) {
  std::vector<Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 0, 1)};
  for (Cable& cable : cables) cable.a.plug = cable.b.plug = "p0";
  cables[1].rate_mbps = 8000;
  const CableResources resources(routing::make_topology(routing::sample_nodes(2), cables));
  ASSERT_EQ(resources.count(), 6U);
  EXPECT_THAT(resources.capacity(), ElementsAre(1.25e9, 1.25e9, 1e9, 1e9, 1.25e9, 1.25e9));
  EXPECT_THAT(resources.of_hop({CableIndex{0}, true}), ElementsAre(0, 4));
  EXPECT_THAT(resources.of_hop({CableIndex{0}, false}), ElementsAre(1, 5));
  EXPECT_THAT(resources.of_hop({CableIndex{1}, true}), ElementsAre(2, 4));
  EXPECT_EQ(resources.kind(4), ResourceKind::kWire);
  EXPECT_EQ(resources.kind(5), ResourceKind::kWire);
}

// On a switch, traffic from two nodes to a third shares its port, and so does its traffic to both.
TEST(CableResourcesTest, CablesOfASwitchShareThePorts) {
  const Topology topology = routing::make_topology(routing::sample_nodes(3), routing::switch_segment(0, {0, 1, 2}));
  const CableResources resources(topology);
  ASSERT_EQ(resources.count(), 6U + 6U);
  const auto shared = [&](std::uint32_t from, std::uint32_t to) {
    const CableIndex cable = topology.cables_between(NodeIndex{from}, NodeIndex{to}).front().cable;
    const auto used = resources.of_hop(resources.direction(cable, NodeIndex{from}));
    EXPECT_EQ(used.size(), 3U);
    return std::pair(used[1], used[2]);  // the sender's and the receiver's port
  };
  EXPECT_EQ(shared(0, 1).first, shared(0, 2).first);
  EXPECT_EQ(shared(0, 2).second, shared(1, 2).second);
  EXPECT_NE(shared(0, 1).first, shared(1, 0).second);
  EXPECT_NE(shared(0, 1).second, shared(0, 2).second);
  EXPECT_EQ(resources.kind(shared(0, 1).first), ResourceKind::kSendingConnector);
  EXPECT_EQ(resources.kind(shared(0, 1).second), ResourceKind::kReceivingConnector);
}

TEST(CableResourcesTest, CablesBehindOneRootShareItOutAndIn) {
  std::vector<Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2)};
  cables[0].b.root = cables[1].a.root = "r0";  // of n1
  std::vector<routing::Node> nodes = routing::sample_nodes(3);
  nodes[1].roots = {{"r0", 12'000}};
  const Topology line = routing::make_topology(nodes, cables);
  const CableResources resources(line);
  ASSERT_EQ(resources.count(), 4U + 2U);
  EXPECT_THAT(resources.capacity().subspan(4), Each(1.5e9));
  using enum ResourceKind;
  EXPECT_EQ(resources.kind(3), kCable);
  EXPECT_EQ(resources.kind(4), kSendingRoot);
  EXPECT_EQ(resources.kind(5), kReceivingRoot);
  // Through n1: in by one side of the root, out by the other.
  EXPECT_THAT(used_from(line, 0, 2), ElementsAre(0, 5, 2, 4));
  EXPECT_THAT(used_from(line, 2, 0), ElementsAre(3, 5, 1, 4));
}

}  // namespace
}  // namespace cableway::sim
