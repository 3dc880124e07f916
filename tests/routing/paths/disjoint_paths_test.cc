#include "routing/paths/disjoint_paths.h"

#include <gtest/gtest.h>

#include <vector>

#include "routing/paths/max_flow.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using Nodes = std::vector<NodeIndex>;

TEST(DisjointPaths, AvoidAShortestPathThatBlocksTwoOthers) {
  // n0-n1-n2-n3 is the only path of three hops, and it intersects every other path.
  const Topology trap = sample_topology(8, {{0, 1}, {1, 2}, {2, 7}, {0, 3}, {3, 4}, {4, 2}, {1, 5}, {5, 6}, {6, 7}});
  const std::vector<DisjointPath> paths = disjoint_paths(trap, NodeIndex{0}, NodeIndex{7});
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0].path.nodes, (Nodes{{0}, {1}, {5}, {6}, {7}}));
  EXPECT_EQ(paths[1].path.nodes, (Nodes{{0}, {3}, {4}, {2}, {7}}));
}

TEST(DisjointPaths, MayMeetAtANode) {
  const Topology bow_tie = sample_topology(5, {{0, 1}, {0, 2}, {1, 2}, {1, 2}, {2, 3}, {2, 4}, {3, 4}});
  const std::vector<DisjointPath> paths = disjoint_paths(bow_tie, NodeIndex{0}, NodeIndex{4});
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0].path.hops() + paths[1].path.hops(), 6U);
}

TEST(DisjointPaths, CarryTheRatesOfTheirSlowestCables) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2), sample_cable(2, 0, 2)};
  cables[0].rate_mbps = 100'000;
  cables[1].rate_mbps = 25'000;
  cables[2].rate_mbps = 40'000;
  const Topology triangle = make_topology(sample_nodes(3), cables);
  const std::vector<DisjointPath> paths = disjoint_paths(triangle, NodeIndex{0}, NodeIndex{2});
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0].rate_mbps, 40'000U);
  EXPECT_EQ(paths[1].rate_mbps, 25'000U);
  EXPECT_EQ(max_flow_mbps(triangle, NodeIndex{0}, NodeIndex{2}), 65'000U);
}

Topology line_with_twins() {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1), sample_cable(2, 1, 2),
                               sample_cable(3, 1, 2)};
  for (Cable& cable : cables) cable.rate_mbps = 200'000;
  cables[0].latency_us = 10000;
  for (const std::size_t i : {0, 1}) cables[i].a.plug = cables[i].b.plug = "p0";
  return make_topology(sample_nodes(3), cables);
}

TEST(DisjointPaths, CrossTwinsOnce) {
  const Topology line = line_with_twins();
  EXPECT_EQ(disjoint_paths(line, NodeIndex{1}, NodeIndex{2}).size(), 2U);
  const std::vector<DisjointPath> paths = disjoint_paths(line, NodeIndex{0}, NodeIndex{2});
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(line.cable(paths[0].path.cables[0]).name, "c1");  // the one with less latency
  EXPECT_EQ(paths[0].rate_mbps, 200'000U);
}

TEST(MaxFlow, OfTwinsIsThatOfTheirPlug) {
  const Topology line = line_with_twins();
  EXPECT_EQ(max_flow_mbps(line, NodeIndex{0}, NodeIndex{1}), 200'000U);
  EXPECT_EQ(max_flow_mbps(line, NodeIndex{1}, NodeIndex{2}), 400'000U);
  EXPECT_EQ(max_flow_mbps(line, NodeIndex{0}, NodeIndex{2}), 200'000U);
}

TEST(DisjointPaths, UseAPortOnASwitchOnce) {
  // n0 and n3 share a switch with n1 and n2, with one port each, so all detours share the ports of n0 and n3.
  const Topology segment = make_topology(sample_nodes(4), switch_segment(0, {0, 1, 2, 3}));
  const std::vector<DisjointPath> paths = disjoint_paths(segment, NodeIndex{0}, NodeIndex{3});
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].path.hops(), 1U);
  EXPECT_EQ(max_flow_mbps(segment, NodeIndex{0}, NodeIndex{3}), kDefaultRateMbps);
}

TEST(DisjointPaths, UseASwitchAndACableAroundIt) {
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2});
  cables.push_back(sample_cable(10, 0, 1));
  const Topology topology = make_topology(sample_nodes(3), cables);
  EXPECT_EQ(disjoint_paths(topology, NodeIndex{0}, NodeIndex{1}).size(), 2U);
  EXPECT_EQ(disjoint_paths(topology, NodeIndex{0}, NodeIndex{2}).size(), 1U);  // n2 has one port
  EXPECT_EQ(max_flow_mbps(topology, NodeIndex{0}, NodeIndex{1}), 2 * kDefaultRateMbps);
}

TEST(DisjointPaths, MayLeaveThroughTheReceivingPortOfASwitch) {
  // n0 and n2 do not hear each other, but n1 hears both at its one port: the relay sends over the port it receives on.
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2});
  cables.erase(cables.begin() + 1);
  const Topology topology = make_topology(sample_nodes(3), cables);
  const std::vector<DisjointPath> paths = disjoint_paths(topology, NodeIndex{0}, NodeIndex{2});
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].path.nodes, (Nodes{{0}, {1}, {2}}));
  EXPECT_EQ(max_flow_mbps(topology, NodeIndex{0}, NodeIndex{2}), kDefaultRateMbps);
}

TEST(DisjointPaths, AvoidDrainingNodes) {
  std::vector<Node> nodes = sample_nodes(4);
  nodes[1].draining = true;
  std::vector<Cable> cables;
  for (const auto& [a, b] : ring_pairs(4)) {
    cables.push_back(sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
  }
  const Topology ring = make_topology(nodes, cables);
  EXPECT_EQ(disjoint_paths(ring, NodeIndex{0}, NodeIndex{2}).size(), 1U);
  EXPECT_EQ(disjoint_paths(ring, NodeIndex{1}, NodeIndex{3}).size(), 2U);
  EXPECT_EQ(max_flow_mbps(ring, NodeIndex{0}, NodeIndex{2}), kDefaultRateMbps);
  EXPECT_EQ(max_flow_mbps(ring, NodeIndex{1}, NodeIndex{3}), 2 * kDefaultRateMbps);
}

TEST(DisjointPaths, UseAllCablesOfALargeTorusNode) {
  const Topology torus = sample_topology(1024, torus_pairs(32, 32));
  const std::vector<DisjointPath> paths = disjoint_paths(torus, NodeIndex{0}, NodeIndex{16 * 32 + 16});
  ASSERT_EQ(paths.size(), 4U);
  for (const DisjointPath& path : paths) EXPECT_EQ(path.path.hops(), 32U);
}

TEST(DisjointPaths, AreTheCheapestOfAsManyAsAreWanted) {
  const Topology torus = sample_topology(64, torus_pairs(8, 8));
  const PhysicalCables physical = physical_cables(torus);
  const std::vector<DisjointPath> all = disjoint_paths(torus, NodeIndex{0}, NodeIndex{2});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(disjoint_paths(torus, physical, NodeIndex{0}, NodeIndex{2}, 9), all);
  const std::vector<DisjointPath> three = disjoint_paths(torus, physical, NodeIndex{0}, NodeIndex{2}, 3);
  ASSERT_EQ(three.size(), 3U);
  EXPECT_EQ(three[0].path.hops(), 2U);
  EXPECT_EQ(three[1].path.hops(), 4U);
  EXPECT_EQ(three[2].path.hops(), 4U);
  EXPECT_TRUE(disjoint_paths(torus, physical, NodeIndex{0}, NodeIndex{2}, 0).empty());
}

TEST(DisjointPaths, AreEmptyWithoutAPath) {
  const Topology topology = sample_topology(3, {{0, 1}});
  EXPECT_TRUE(disjoint_paths(topology, NodeIndex{0}, NodeIndex{2}).empty());
  EXPECT_TRUE(disjoint_paths(topology, NodeIndex{1}, NodeIndex{1}).empty());
  EXPECT_EQ(max_flow_mbps(topology, NodeIndex{0}, NodeIndex{2}), 0U);
  EXPECT_EQ(max_flow_mbps(topology, NodeIndex{1}, NodeIndex{1}), 0U);
}

}  // namespace
}  // namespace cableway::routing
