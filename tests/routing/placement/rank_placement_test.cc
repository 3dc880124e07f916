#include "routing/placement/rank_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "routing/placement/shortest_ring.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::HasSubstr;

std::vector<NodeIndex> all_nodes(const Topology& topology) {
  std::vector<NodeIndex> nodes;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) nodes.push_back(NodeIndex{i});
  return nodes;
}

RankPlacement place(const Topology& topology, const std::vector<NodeIndex>& nodes) {
  const auto placement = place_ranks(topology, nodes);
  EXPECT_TRUE(placement.ok()) << placement.status();
  return placement.ok() ? *placement : RankPlacement{};
}

RingDistance length_of(const RingDistances& distances, const Ring& ring) {
  RingDistance length = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) length += distances(ring[i], ring[(i + 1) % ring.size()]);
  return length;
}

// The complete Held-Karp table, without the product's memory optimisations.
RingDistance plain_shortest(const RingDistances& distances) {
  constexpr RingDistance kFar = std::numeric_limits<RingDistance>::max();
  const std::size_t count = distances.count();
  std::vector<std::vector<RingDistance>> table(std::size_t{1} << count, std::vector<RingDistance>(count, kFar));
  table[1][0] = 0;
  for (std::size_t visited = 1; visited < table.size(); ++visited) {
    for (std::size_t last = 0; last < count; ++last) {
      if (table[visited][last] == kFar) continue;
      for (std::size_t next = 0; next < count; ++next) {
        if ((visited >> next & 1) != 0) continue;
        RingDistance& there = table[visited | std::size_t{1} << next][next];
        there = std::min(there, table[visited][last] + distances(last, next));
      }
    }
  }
  RingDistance shortest = kFar;
  for (std::size_t last = 1; last < count; ++last) {
    shortest = std::min(shortest, table.back()[last] + distances(last, 0));
  }
  return shortest;
}

RingDistances random_distances(std::size_t count, std::mt19937_64& random) {
  RingDistances distances(count);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      distances(a, b) = distances(b, a) = random() % 3 * kOneRelay + random() % 100;
    }
  }
  return distances;
}

bool holds_each_once(Ring ring) {
  std::sort(ring.begin(), ring.end());
  Ring each(ring.size());
  std::iota(each.begin(), each.end(), std::size_t{0});
  return ring == each;
}

TEST(ShortestRing, MatchesTheCompleteTable) {
  std::mt19937_64 random(17);
  for (std::size_t count = 4; count <= 13; ++count) {
    for (int deal = 0; deal < (count < 11 ? 20 : 3); ++deal) {
      const RingDistances distances = random_distances(count, random);
      const RingDistance shortest = plain_shortest(distances);
      const Ring exact = shortest_ring(distances);
      const Ring near = short_ring(distances);
      ASSERT_TRUE(exact.size() == count && holds_each_once(exact));
      ASSERT_TRUE(near.size() == count && holds_each_once(near));
      EXPECT_EQ(length_of(distances, exact), shortest) << count << " nodes, deal " << deal;
      EXPECT_GE(length_of(distances, near), shortest);
      if (is_provably_shortest(distances, near)) {
        EXPECT_EQ(length_of(distances, near), shortest);
      }
    }
  }
}

TEST(ShortRing, IsNearlyOptimal) {
  std::mt19937_64 random(23);
  std::size_t best = 0;
  for (int deal = 0; deal < 100; ++deal) {
    const RingDistances distances = random_distances(9, random);
    best += length_of(distances, short_ring(distances)) == plain_shortest(distances) ? 1 : 0;
  }
  EXPECT_GE(best, 60U);
}

TEST(RankPlacement, FindsTheRingForAnyNodeNames) {
  std::mt19937_64 random(3);
  for (const std::uint32_t count : {4U, 7U, 16U, 24U, 64U, 200U}) {
    std::vector<std::uint32_t> dealt(count);
    std::iota(dealt.begin(), dealt.end(), 0U);
    std::shuffle(dealt.begin(), dealt.end(), random);
    Pairs pairs;
    for (std::uint32_t i = 0; i < count; ++i) pairs.emplace_back(dealt[i], dealt[(i + 1) % count]);
    const Topology ring = sample_topology(count, pairs, 10000);
    const RankPlacement placement = place(ring, all_nodes(ring));
    EXPECT_EQ(placement.cost, (PlacementCost{0, count * 10'000'000ULL}));
    EXPECT_TRUE(placement.is_best);
    EXPECT_EQ(placement.order.front(), NodeIndex{0});
    EXPECT_LT(placement.order[1], placement.order.back());
  }
}

TEST(RankPlacement, WalksATorusWithoutRelays) {
  for (const auto& [rows, columns] : {std::pair(3U, 3U), std::pair(4U, 6U), std::pair(8U, 8U), std::pair(16U, 16U)}) {
    const Topology torus = sample_topology(std::size_t{rows} * columns, torus_pairs(rows, columns));
    EXPECT_EQ(place(torus, all_nodes(torus)).cost.relays, 0U) << rows << "x" << columns;
  }
}

TEST(RankPlacement, AlternatesAlongALine) {
  // 0 2 4 .. 5 3 1: every step skips a node, except the two at the ends.
  const Topology line = sample_topology(20, line_pairs(20), 10000);
  const RankPlacement placement = place(line, all_nodes(line));
  EXPECT_EQ(placement.cost, (PlacementCost{18, 380'000'000}));
  EXPECT_TRUE(placement.is_best);
  const auto in_order = placement_cost(line, all_nodes(line));
  ASSERT_TRUE(in_order.ok());
  EXPECT_EQ(*in_order, (PlacementCost{18, 380'000'000}));  // the return trip in one step has the same cost
}

TEST(RankPlacement, PrefersFewerRelaysToLessLatency) {
  // All cables around the square are slow. The diagonals over n4 would be faster, but need n4 as a relay.
  std::vector<Cable> cables;
  for (const auto& [a, b] : Pairs{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 0}, {4, 1}, {4, 2}, {4, 3}}) {
    cables.push_back(sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
    cables.back().latency_us = a == 4 ? 10000 : 50000;
  }
  const Topology topology = make_topology(sample_nodes(5), cables);
  const RankPlacement placement = place(topology, {{3}, {1}, {0}, {2}});
  EXPECT_EQ(placement.order, (std::vector<NodeIndex>{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(placement.cost, (PlacementCost{0, 200'000'000}));
}

TEST(RankPlacement, UsesOtherNodesAsRelays) {
  const Topology ring = sample_topology(8, ring_pairs(8), 10000);
  const RankPlacement placement = place(ring, {{6}, {0}, {4}, {2}});
  EXPECT_EQ(placement.order, (std::vector<NodeIndex>{{0}, {2}, {4}, {6}}));
  EXPECT_EQ(placement.cost, (PlacementCost{4, 80'000'000}));
}

TEST(RankPlacement, HandlesOneOrTwoNodes) {
  const Topology line = sample_topology(3, line_pairs(3), 10000);
  EXPECT_EQ(place(line, {{2}}).order, (std::vector<NodeIndex>{{2}}));
  EXPECT_EQ(place(line, {{2}}).cost, PlacementCost{});
  EXPECT_EQ(place(line, {{2}, {0}}).order, (std::vector<NodeIndex>{{0}, {2}}));
  EXPECT_EQ(place(line, {{2}, {0}}).cost, (PlacementCost{2, 40'000'000}));
  EXPECT_EQ(*placement_cost(line, std::vector<NodeIndex>{{2}, {0}}), (PlacementCost{2, 40'000'000}));
}

TEST(RankPlacement, ReportsInvalidNodeLists) {
  const Topology parts = sample_topology(4, {{0, 1}, {2, 3}});
  const std::string no_path = "has no path to node \"n2\"; expected nodes that all reach each other";
  EXPECT_THAT(std::string(place_ranks(parts, all_nodes(parts)).status().message()), HasSubstr(no_path));
  EXPECT_THAT(std::string(placement_cost(parts, all_nodes(parts)).status().message()), HasSubstr(no_path));
  EXPECT_TRUE(absl::IsFailedPrecondition(place_ranks(parts, all_nodes(parts)).status()));
  EXPECT_TRUE(place_ranks(parts, std::vector<NodeIndex>{{3}, {2}}).ok());
  EXPECT_THAT(std::string(place_ranks(parts, std::vector<NodeIndex>{{1}, {1}}).status().message()),
              HasSubstr("node \"n1\" is listed twice"));
  EXPECT_TRUE(absl::IsInvalidArgument(place_ranks(parts, {}).status()));
  const Topology large = sample_topology(kMaxPlacedNodes + 1, line_pairs(kMaxPlacedNodes + 1));
  EXPECT_THAT(std::string(placement_cost(large, all_nodes(large)).status().message()),
              HasSubstr("there are 1025 nodes to place; expected at most 1024"));
}

TEST(RankPlacement, IsBoundedInTimeForLargeStars) {
  // A star has no good ring, and none that a bound could prove optimal.
  const Topology star = sample_topology(121, star_pairs(120), 10000);
  const RankPlacement placement = place(star, all_nodes(star));
  EXPECT_EQ(placement.cost, (PlacementCost{119, 2400'000'000}));
  EXPECT_FALSE(placement.is_best);
}

TEST(RankPlacement, DoesNotOverflowOnTheLongestPaths) {
  // Half the nodes at one end of the longest line of the slowest cables, half at the other: a bad order of them has a
  // total latency that exceeds 32 bits and 40 bits.
  std::vector<Cable> cables;
  for (std::uint32_t i = 0; i + 1 < kMaxNodes; ++i) {
    cables.push_back(sample_cable(i, i, i + 1));
    cables.back().latency_us = kMaxLatencyUs;
  }
  const Topology line = make_topology(sample_nodes(kMaxNodes), cables);
  std::vector<NodeIndex> ends;
  for (std::uint32_t i = 0; i < 6; ++i) {
    ends.push_back(NodeIndex{i});
    ends.push_back(NodeIndex{static_cast<std::uint32_t>(kMaxNodes) - 1 - i});
  }
  const RankPlacement placement = place(line, ends);
  EXPECT_EQ(placement.cost, (PlacementCost{2 * (kMaxNodes - 1) - 12, 2 * (kMaxNodes - 1) * 1'000'000'000ULL}));
  EXPECT_TRUE(placement.is_best);
}

}  // namespace
}  // namespace cableway::routing
