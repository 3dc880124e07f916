#include "routing/paths/drain_effect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/routing/paths/naive_routing.h"
#include "tests/routing/paths/random_graphs.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

AffectedPair pair(std::uint32_t a, std::uint32_t b) {
  return {NodeIndex{a}, NodeIndex{b}};
}

DrainEffect effect_of_node(const Topology& topology, std::uint32_t node) {
  return drain_effect(topology, with_node_draining(topology, NodeIndex{node}, true));
}

DrainEffect effect_of_cable(const Topology& topology, std::uint32_t cable) {
  return drain_effect(topology, with_cable_draining(topology, topology.cable(CableIndex{cable}).name, true));
}

// n0 - n1 - n2
TEST(DrainEffect, ALineLosesThePairsOnBothSidesOfItsMiddle) {
  const Topology line = sample_topology(3, line_pairs(3));
  EXPECT_THAT(effect_of_node(line, 1).lost, ElementsAre(pair(0, 2)));
  EXPECT_EQ(effect_of_node(line, 1).largest_loss, (LostBandwidth{pair(0, 2), 10000, 0}));
  EXPECT_THAT(effect_of_node(line, 0).lost, IsEmpty()) << "it relays nothing anyhow";
  EXPECT_EQ(effect_of_node(line, 0).largest_loss, std::nullopt);
  EXPECT_THAT(effect_of_cable(line, 0).lost, ElementsAre(pair(0, 1), pair(0, 2)));
}

// n0 - n1
//  |    |
// n3 - n2
TEST(DrainEffect, ARingLosesNoPairButBandwidth) {
  const Topology ring = sample_topology(4, ring_pairs(4));
  const DrainEffect node = effect_of_node(ring, 1);
  EXPECT_THAT(node.lost, IsEmpty());
  EXPECT_THAT(node.longer, IsEmpty()) << "n0 reaches n2 over n3 as well";
  EXPECT_EQ(node.largest_loss, (LostBandwidth{pair(0, 2), 20000, 10000}));

  const DrainEffect cable = effect_of_cable(ring, 0);
  EXPECT_THAT(cable.lost, IsEmpty());
  EXPECT_THAT(cable.longer, ElementsAre(LongerPath{pair(0, 1), 1, 3}));
  EXPECT_EQ(cable.largest_loss, (LostBandwidth{pair(0, 1), 20000, 10000}));
}

// A ring of six: draining n0 - n1 makes three pairs' paths longer, its ends' the most.
TEST(DrainEffect, ListsTheLongestDetourFirst) {
  const DrainEffect effect = effect_of_cable(sample_topology(6, ring_pairs(6)), 0);
  EXPECT_THAT(effect.longer,
              ElementsAre(LongerPath{pair(0, 1), 1, 5}, LongerPath{pair(0, 2), 2, 4}, LongerPath{pair(1, 5), 2, 4}));
}

// n0 = n1: three cables, of 10, 10 and 40 Gbit/s.
TEST(DrainEffect, TheLargestLossIsThatOfTheFastestParallelCable) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1), sample_cable(2, 0, 1)};
  cables[2].rate_mbps = 40000;
  const Topology topology = make_topology(sample_nodes(2), cables);
  EXPECT_EQ(effect_of_cable(topology, 0).largest_loss, (LostBandwidth{pair(0, 1), 60000, 50000}));
  EXPECT_EQ(effect_of_cable(topology, 2).largest_loss, (LostBandwidth{pair(0, 1), 60000, 20000}));
}

TEST(DrainEffect, OneFunctionOfASplitPortIsNoLossWhereItsTwinFillsTheWire) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1)};
  for (Cable& cable : cables) cable.a.plug = cable.b.plug = "p0";
  EXPECT_EQ(effect_of_cable(make_topology(sample_nodes(2), cables), 0).largest_loss, std::nullopt);
}

TEST(DrainEffect, WhatDrainsAlreadyIsNoFurtherLoss) {
  const Topology ring = sample_topology(4, ring_pairs(4));
  const Topology without = with_cable_draining(ring, ring.cable(CableIndex{0}).name, true);
  EXPECT_EQ(without.unused_cables().size(), 1U);
  const DrainEffect effect = drain_effect(without, with_node_draining(without, NodeIndex{2}, true));
  EXPECT_THAT(effect.lost, ElementsAre(pair(0, 1), pair(1, 3)));
  EXPECT_EQ(with_node_draining(without, NodeIndex{2}, true).unused_cables().size(), 1U);
  EXPECT_EQ(with_cable_draining(without, without.unused_cables()[0].name, false), ring);
}

TEST(DrainEffect, OfLargeTopologiesTheMaximumFlowIsLeftOut) {
  const Topology ring = sample_topology(kMaxNodesForFlow + 1, ring_pairs(kMaxNodesForFlow + 1));
  EXPECT_EQ(effect_of_cable(ring, 0).largest_loss, std::nullopt);
  EXPECT_THAT(effect_of_cable(ring, 0).lost, IsEmpty());
}

TEST(DrainEffect, AgreesWithAllPathsOfRandomGraphs) {
  std::size_t lost = 0;
  std::size_t longer = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Topology before = random_topology(seed, 6, 8);
    const bool drains_node = before.cable_count() == 0 || seed % 2 == 0;
    const Topology after =
        drains_node
            ? with_node_draining(before, NodeIndex{static_cast<std::uint32_t>(seed % before.node_count())}, true)
            : with_cable_draining(before, before.cables()[seed % before.cable_count()].name, true);
    const DrainEffect effect = drain_effect(before, after);
    std::vector<AffectedPair> expected_lost;
    std::size_t expected_longer = 0;
    for (const auto& [from, to] : all_pairs(before)) {
      if (!(from < to)) continue;
      const auto paths_before = naive_paths(before, from, to);
      const auto paths_after = naive_paths(after, from, to);
      if (!paths_before.empty() && paths_after.empty()) expected_lost.push_back({from, to});
      if (!paths_after.empty() && paths_after.front().hops() > paths_before.front().hops()) ++expected_longer;
    }
    EXPECT_EQ(effect.lost, expected_lost) << "seed " << seed;
    EXPECT_EQ(effect.longer.size(), expected_longer) << "seed " << seed;
    lost += expected_lost.size();
    longer += expected_longer;
  }
  EXPECT_GT(lost, test::cases_here(50U));
  EXPECT_GT(longer, test::cases_here(25U));
}

}  // namespace
}  // namespace cableway::routing
