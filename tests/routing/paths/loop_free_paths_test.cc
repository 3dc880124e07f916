#include "routing/paths/loop_free_paths.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "routing/paths/path_cost.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

TEST(LoopFreePaths, GoBothWaysAroundARing) {
  const Topology ring = sample_topology(5, ring_pairs(5));
  const std::vector<Path> paths = loop_free_paths(ring, NodeIndex{0}, NodeIndex{2}, 10);
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0].nodes, (std::vector<NodeIndex>{{0}, {1}, {2}}));
  EXPECT_EQ(paths[1].nodes, (std::vector<NodeIndex>{{0}, {4}, {3}, {2}}));
}

TEST(LoopFreePaths, AreSortedByCostThenCables) {
  // The square has two paths of two hops, one with more latency; the other has parallel cables on one side.
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2), sample_cable(2, 2, 3),
                               sample_cable(3, 3, 0), sample_cable(4, 3, 0)};
  cables[1].latency_us = 10000;
  const Topology topology = make_topology(sample_nodes(4), cables);
  const std::vector<Path> paths = loop_free_paths(topology, NodeIndex{0}, NodeIndex{2}, 10);
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_EQ(topology.cable(paths[0].cables[0]).name, "c3");
  EXPECT_EQ(topology.cable(paths[1].cables[0]).name, "c4");
  EXPECT_EQ(topology.cable(paths[2].cables[0]).name, "c0");
  EXPECT_LT(cost_of(topology, paths[1]), cost_of(topology, paths[2]));
}

TEST(LoopFreePaths, AvoidDrainingNodes) {
  std::vector<Cable> cables;
  for (const auto& [a, b] : mesh_pairs(4)) {
    cables.push_back(sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
  }
  std::vector<Node> nodes = sample_nodes(4);
  nodes[1].draining = true;
  const Topology mesh = make_topology(nodes, cables);
  EXPECT_EQ(loop_free_paths(mesh, NodeIndex{0}, NodeIndex{3}, 10).size(), 2U);  // direct, and over n2
  EXPECT_EQ(loop_free_paths(mesh, NodeIndex{1}, NodeIndex{3}, 10).size(), 5U);  // paths may start at a draining node
}

TEST(LoopFreePaths, AreCompleteInAFullMesh) {
  const Topology mesh = sample_topology(6, mesh_pairs(6));
  // 1 + 4 + 4*3 + 4*3*2 + 4*3*2*1
  const std::vector<Path> paths = loop_free_paths(mesh, NodeIndex{0}, NodeIndex{5}, 1000);
  EXPECT_EQ(paths.size(), 65U);
  EXPECT_EQ(std::set<Path>(paths.begin(), paths.end()).size(), 65U);
}

TEST(LoopFreePaths, AreBounded) {
  const Topology torus = sample_topology(64, torus_pairs(8, 8));
  const std::vector<Path> paths = loop_free_paths(torus, NodeIndex{0}, NodeIndex{36}, 100'000);
  EXPECT_EQ(paths.size(), kMaxLoopFreePaths);
  EXPECT_EQ(std::set<Path>(paths.begin(), paths.end()).size(), kMaxLoopFreePaths);
}

TEST(LoopFreePaths, AreOneOnTheLongestLine) {
  const Topology line = sample_topology(kMaxNodes, line_pairs(kMaxNodes));
  const std::vector<Path> paths = loop_free_paths(line, NodeIndex{kMaxNodes - 1}, NodeIndex{0}, kMaxLoopFreePaths);
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].hops(), kMaxNodes - 1);
}

TEST(LoopFreePaths, AreEmptyWithoutAPath) {
  const Topology topology = sample_topology(3, {{0, 1}});
  EXPECT_TRUE(loop_free_paths(topology, NodeIndex{0}, NodeIndex{2}, 5).empty());
  EXPECT_TRUE(loop_free_paths(topology, NodeIndex{0}, NodeIndex{1}, 0).empty());
  const std::vector<Path> to_itself = loop_free_paths(topology, NodeIndex{1}, NodeIndex{1}, 5);
  ASSERT_EQ(to_itself.size(), 1U);
  EXPECT_EQ(to_itself[0], (Path{{}, {NodeIndex{1}}}));
}

}  // namespace
}  // namespace cableway::routing
