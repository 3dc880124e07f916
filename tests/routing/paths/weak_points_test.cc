#include "routing/paths/weak_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

WeakPoints weak_points_of(const Topology& topology) {
  return weak_points(topology, physical_cables(topology));
}

TEST(WeakPoints, ARingHasNone) {
  EXPECT_EQ(weak_points_of(sample_topology(5, ring_pairs(5))), WeakPoints{});
}

TEST(WeakPoints, ALineIsWeakEverywhere) {
  const WeakPoints weak = weak_points_of(sample_topology(4, line_pairs(4)));
  EXPECT_THAT(weak.nodes, ElementsAre(NodeIndex{1}, NodeIndex{2}));
  EXPECT_THAT(weak.cables, ElementsAre(0, 1, 2));
}

TEST(WeakPoints, ParallelCablesAreNoBridge) {
  const WeakPoints weak = weak_points_of(sample_topology(3, {{0, 1}, {0, 1}, {1, 2}}));
  EXPECT_THAT(weak.nodes, ElementsAre(NodeIndex{1}));
  EXPECT_THAT(weak.cables, ElementsAre(2));
}

TEST(WeakPoints, TwinsAreOneBridge) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1)};
  for (Cable& cable : cables) cable.a.plug = cable.b.plug = "p0";
  const Topology topology = make_topology(sample_nodes(2), cables);
  EXPECT_THAT(weak_points_of(topology).cables, ElementsAre(0));
  EXPECT_THAT(weak_points_of(topology).nodes, IsEmpty());
}

TEST(WeakPoints, TheOnlyPortOnASwitchIsWeakAlthoughNoCableIs) {
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2});
  cables.push_back(sample_cable(10, 0, 1));
  const Topology topology = make_topology(sample_nodes(3), cables);
  const PhysicalCables physical = physical_cables(topology);
  const WeakPoints weak = weak_points(topology, physical);
  EXPECT_THAT(weak.nodes, IsEmpty());
  EXPECT_THAT(weak.cables, IsEmpty());
  ASSERT_THAT(weak.connectors, ElementsAre(2));
  EXPECT_EQ(connector_name(topology, physical, physical.connectors[2]), "n2 sw0");
}

TEST(WeakPoints, AreFoundInEveryComponent) {
  const WeakPoints weak = weak_points_of(sample_topology(7, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {5, 3}}));
  EXPECT_THAT(weak.nodes, ElementsAre(NodeIndex{1}));
  EXPECT_THAT(weak.cables, ElementsAre(0, 1));
}

TEST(WeakPoints, AreFoundOnTheLongestLine) {
  const WeakPoints weak = weak_points_of(sample_topology(kMaxNodes, line_pairs(kMaxNodes)));
  EXPECT_EQ(weak.nodes.size(), kMaxNodes - 2);
  EXPECT_EQ(weak.cables.size(), kMaxNodes - 1);
}

}  // namespace
}  // namespace cableway::routing
