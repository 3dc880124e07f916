#include "routing/paths/shortest_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "routing/paths/path_set.h"
#include "tests/routing/sample_topologies.h"
#include "tests/slow_build.h"

namespace cableway::routing {
namespace {

// In ns.
std::uint64_t whole_milliseconds(const Cable& cable) {
  return static_cast<std::uint64_t>(std::floor(cable.latency_us.value_or(0) / 10'000)) * 10'000'000;
}

constexpr std::size_t kAllPaths = 1'000'000;

// Whether `path` is a valid path (path.h) from `from` to `to`.
::testing::AssertionResult is_path(const Topology& topology, const Path& path, NodeIndex from, NodeIndex to) {
  if (path.nodes.size() != path.cables.size() + 1) return ::testing::AssertionFailure() << "wrong number of nodes";
  if (path.nodes.front() != from || path.nodes.back() != to) return ::testing::AssertionFailure() << "wrong ends";
  std::set<NodeIndex> visited(path.nodes.begin(), path.nodes.end());
  if (visited.size() != path.nodes.size()) return ::testing::AssertionFailure() << "a node occurs twice";
  for (std::size_t i = 0; i < path.cables.size(); ++i) {
    const Cable& cable = topology.cable(path.cables[i]);
    const bool forth = cable.a.node == path.nodes[i] && cable.b.node == path.nodes[i + 1];
    const bool back = cable.b.node == path.nodes[i] && cable.a.node == path.nodes[i + 1];
    if (!forth && !back) return ::testing::AssertionFailure() << "cable " << i << " does not join its nodes";
  }
  return ::testing::AssertionSuccess();
}

PathCost plain_cost_of(const Topology& topology, const Path& path) {
  PathCost cost;
  for (const CableIndex cable : path.cables) {
    ++cost.hops;
    cost.latency_ns += whole_milliseconds(topology.cable(cable));
  }
  return cost;
}

// A reference implementation, as simple as possible: enumerates all walks without repeated nodes, depth first, and
// keeps the cheapest.
class AllWalks {
 public:
  AllWalks(const Topology& topology, NodeIndex from, NodeIndex to) : topology_(topology), to_(to) {
    walk_.nodes.push_back(from);
    extend();
    std::sort(cheapest_.begin(), cheapest_.end());
  }
  const std::vector<Path>& cheapest() const { return cheapest_; }

 private:
  void extend() {
    if (!cheapest_.empty() && walk_.hops() > cheapest_.front().hops()) return;  // only saves time
    const NodeIndex here = walk_.nodes.back();
    if (here == to_) {
      const PathCost cost = plain_cost_of(topology_, walk_);
      if (!cheapest_.empty() && cost > plain_cost_of(topology_, cheapest_.front())) return;
      if (!cheapest_.empty() && cost < plain_cost_of(topology_, cheapest_.front())) cheapest_.clear();
      cheapest_.push_back(walk_);
      return;
    }
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) {
      const Cable& cable = topology_.cables()[i];
      if (cable.a.node != here && cable.b.node != here) continue;
      const NodeIndex there = cable.a.node == here ? cable.b.node : cable.a.node;
      if (std::find(walk_.nodes.begin(), walk_.nodes.end(), there) != walk_.nodes.end()) continue;
      walk_.cables.push_back(CableIndex{i});
      walk_.nodes.push_back(there);
      extend();
      walk_.cables.pop_back();
      walk_.nodes.pop_back();
    }
  }

  const Topology& topology_;
  const NodeIndex to_;
  Path walk_;
  std::vector<Path> cheapest_;
};

// The distances between all nodes (Floyd-Warshall).
std::vector<std::vector<PathCost>> all_distances(const Topology& topology) {
  constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();
  const std::size_t count = topology.node_count();
  std::vector<std::vector<PathCost>> distance(count, std::vector<PathCost>(count, {kFar, 0}));
  for (std::size_t i = 0; i < count; ++i) distance[i][i] = {};
  for (const Cable& cable : topology.cables()) {
    const PathCost cost{1, whole_milliseconds(cable)};
    PathCost& forth = distance[cable.a.node.value][cable.b.node.value];
    PathCost& back = distance[cable.b.node.value][cable.a.node.value];
    forth = back = std::min(forth, cost);
  }
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        if (distance[i][k].hops == kFar || distance[k][j].hops == kFar) continue;
        const PathCost through{distance[i][k].hops + distance[k][j].hops,
                               distance[i][k].latency_ns + distance[k][j].latency_ns};
        distance[i][j] = std::min(distance[i][j], through);
      }
    }
  }
  return distance;
}

// Includes parallel cables, isolated nodes and equal sums of unequal latencies.
Topology random_topology(std::mt19937& random, std::uint32_t max_nodes, std::uint32_t max_cables) {
  const std::uint32_t nodes = 1 + static_cast<std::uint32_t>(random() % max_nodes);
  const std::uint32_t cables = nodes == 1 ? 0 : static_cast<std::uint32_t>(random() % (max_cables + 1));
  const bool equal_latencies = random() % 2 == 0;
  constexpr double kLatencies[] = {0, 1, 9999, 10000, 20000, 25000, 50000};
  std::vector<Cable> list;
  for (std::uint32_t i = 0; i < cables; ++i) {
    const auto a = static_cast<std::uint32_t>(random() % nodes);
    const auto b = static_cast<std::uint32_t>((a + 1 + random() % (nodes - 1)) % nodes);
    list.push_back(sample_cable(i, a, b));
    if (!equal_latencies) list.back().latency_us = kLatencies[random() % std::size(kLatencies)];
  }
  return make_topology(sample_nodes(nodes), std::move(list));
}

TEST(ShortestPaths, AreCompleteOnRandomGraphs) {
  std::mt19937 random(20240607);
  std::size_t pairs = 0;
  std::size_t pairs_with_choice = 0;
  std::size_t pairs_unreached = 0;
  for (int graph = 0; graph < test::cases_here(1000); ++graph) {
    const Topology topology = random_topology(random, 10, 24);
    for (std::uint32_t from = 0; from < topology.node_count(); ++from) {
      const ShortestPaths shortest = shortest_paths_from(topology, NodeIndex{from});
      for (std::uint32_t to = 0; to < topology.node_count(); ++to) {
        std::vector<Path> found = ranked_shortest_paths(shortest, NodeIndex{to}, kAllPaths);
        std::sort(found.begin(), found.end());
        const std::vector<Path> expected = AllWalks(topology, NodeIndex{from}, NodeIndex{to}).cheapest();
        ASSERT_EQ(found, expected) << "graph " << graph << " from " << from << " to " << to;
        ASSERT_EQ(shortest.reaches(NodeIndex{to}), !expected.empty());
        if (!expected.empty()) {
          ASSERT_EQ(shortest.cost_to(NodeIndex{to}), plain_cost_of(topology, expected.front()));
        }
        ++pairs;
        pairs_with_choice += expected.size() > 1;
        pairs_unreached += expected.empty();
      }
    }
  }
  // The generated graphs contain enough cases.
  EXPECT_GT(pairs, test::cases_here(30'000U));
  EXPECT_GT(pairs_with_choice, test::cases_here(5'000U));
  EXPECT_GT(pairs_unreached, test::cases_here(1'000U));
}

TEST(ShortestPaths, HaveTheRightLengthOnLargerRandomGraphs) {
  std::mt19937 random(7);
  for (int graph = 0; graph < 60; ++graph) {
    const Topology topology = random_topology(random, 60, 200);
    const std::vector<std::vector<PathCost>> distance = all_distances(topology);
    for (std::uint32_t from = 0; from < topology.node_count(); ++from) {
      const ShortestPaths shortest = shortest_paths_from(topology, NodeIndex{from});
      for (std::uint32_t to = 0; to < topology.node_count(); ++to) {
        const bool is_reached = distance[from][to].hops != std::numeric_limits<std::uint32_t>::max();
        ASSERT_EQ(shortest.reaches(NodeIndex{to}), is_reached);
        const std::vector<Path> paths = ranked_shortest_paths(shortest, NodeIndex{to}, 16);
        ASSERT_EQ(paths.empty(), !is_reached);
        ASSERT_LE(paths.size(), 16U);
        for (const Path& path : paths) {
          ASSERT_TRUE(is_path(topology, path, NodeIndex{from}, NodeIndex{to}));
          ASSERT_EQ(plain_cost_of(topology, path), distance[from][to]);
        }
      }
    }
  }
}

TEST(ShortestPaths, CountHopsBeforeLatency) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2), sample_cable(2, 0, 2)};
  cables[2].latency_us = kMaxLatencyUs;  // the direct cable is slow, but still the shortest path
  const Topology topology = make_topology(sample_nodes(3), cables);
  const ShortestPaths shortest = shortest_paths_from(topology, NodeIndex{0});
  EXPECT_EQ(shortest.cost_to(NodeIndex{2}), (PathCost{1, 1'000'000'000}));
}

TEST(ShortestPaths, PreferLessLatencyAtEqualHops) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 3), sample_cable(2, 0, 2),
                               sample_cable(3, 2, 3)};
  cables[0].latency_us = 10000;
  const Topology topology = make_topology(sample_nodes(4), cables);
  const ShortestPaths shortest = shortest_paths_from(topology, NodeIndex{0});
  const std::vector<Path> paths = ranked_shortest_paths(shortest, NodeIndex{3}, 16);
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].nodes[1], NodeIndex{2});
}

// Measured latencies of equal cables differ by less, and one of them may not be known yet.
TEST(ShortestPaths, CountStepsOfTenMillisecondsOfLatency) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1), sample_cable(2, 0, 1),
                               sample_cable(3, 0, 1)};
  cables[0].latency_us = 0.8;
  cables[1].latency_us = 9999.9;
  cables[3].latency_us = 10000;
  const auto first_cables = [&] {
    const Topology topology = make_topology(sample_nodes(2), cables);
    std::vector<std::string> names;
    for (const Path& path : ranked_shortest_paths(shortest_paths_from(topology, NodeIndex{0}), NodeIndex{1}, 16)) {
      names.push_back(topology.cable(path.cables[0]).name);
    }
    return names;
  };
  EXPECT_EQ(first_cables(), (std::vector<std::string>{"c0", "c1", "c2"}));
  for (Cable& cable : cables) cable.latency_us = cable.latency_us.value_or(0) + 10000;
  EXPECT_EQ(first_cables(), (std::vector<std::string>{"c0", "c1", "c2"}));
  cables[0].latency_us = std::nullopt;
  EXPECT_EQ(first_cables(), (std::vector<std::string>{"c0"}));
}

// A ring of six with n1 draining.
Topology ring_with_a_draining_node() {
  std::vector<Cable> cables;
  for (std::uint32_t i = 0; i < 6; ++i) {
    cables.push_back(sample_cable(i, i, (i + 1) % 6));
    cables.back().latency_us = 10000;
  }
  std::vector<Node> nodes = sample_nodes(6);
  nodes[1].draining = true;
  return make_topology(nodes, cables);
}

TEST(ShortestPaths, GoAroundADrainingNode) {
  const Topology ring = ring_with_a_draining_node();
  const ShortestPaths shortest = shortest_paths_from(ring, NodeIndex{0});
  const std::vector<Path> paths = ranked_shortest_paths(shortest, NodeIndex{2}, kAllPaths);
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_EQ(paths[0].nodes, (std::vector<NodeIndex>{{0}, {5}, {4}, {3}, {2}}));
  EXPECT_EQ(shortest.cost_to(NodeIndex{2}), (PathCost{4, 40'000'000}));
}

TEST(ShortestPaths, StartAndEndAtADrainingNode) {
  const Topology ring = ring_with_a_draining_node();
  const ShortestPaths from_it = shortest_paths_from(ring, NodeIndex{1});
  EXPECT_EQ(ranked_shortest_paths(from_it, NodeIndex{4}, kAllPaths).size(), 2U);
  EXPECT_EQ(ranked_shortest_paths(shortest_paths_from(ring, NodeIndex{4}), NodeIndex{1}, kAllPaths).size(), 2U);
}

TEST(ShortestPaths, EndBehindDrainingNodes) {
  std::vector<Node> nodes = sample_nodes(4);
  nodes[1].draining = nodes[2].draining = true;
  const Topology line = make_topology(nodes, {sample_cable(0, 0, 1), sample_cable(1, 1, 2), sample_cable(2, 2, 3)});
  const ShortestPaths shortest = shortest_paths_from(line, NodeIndex{0});
  EXPECT_TRUE(shortest.reaches(NodeIndex{1}));
  EXPECT_FALSE(shortest.reaches(NodeIndex{2}));
  EXPECT_FALSE(shortest.reaches(NodeIndex{3}));
  EXPECT_TRUE(ranked_shortest_paths(shortest, NodeIndex{3}, kAllPaths).empty());
}

TEST(ShortestPaths, DoNotOverflowOnTheLongestAndSlowestLine) {
  std::vector<Cable> cables;
  for (std::uint32_t i = 0; i + 1 < kMaxNodes; ++i) {
    cables.push_back(sample_cable(i, i, i + 1));
    cables.back().latency_us = kMaxLatencyUs;
  }
  const Topology topology = make_topology(sample_nodes(kMaxNodes), cables);
  const NodeIndex last{kMaxNodes - 1};
  const ShortestPaths shortest = shortest_paths_from(topology, NodeIndex{0});
  EXPECT_EQ(shortest.cost_to(last), (PathCost{kMaxNodes - 1, (kMaxNodes - 1) * 1'000'000'000ULL}));
  const std::vector<Path> paths = ranked_shortest_paths(shortest, last, 16);
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_TRUE(is_path(topology, paths[0], NodeIndex{0}, last));
}

TEST(PathSet, SelectsASpreadIfThereAreTooMany) {
  // 24 shortest paths join opposite corners of a 4x4 torus; the 16 that are kept start over all four cables.
  const Topology torus = sample_topology(16, torus_pairs(4, 4));
  const ShortestPaths shortest = shortest_paths_from(torus, NodeIndex{0});
  ASSERT_EQ(ranked_shortest_paths(shortest, NodeIndex{10}, kAllPaths).size(), 24U);
  const std::vector<Path> paths = ranked_shortest_paths(shortest, NodeIndex{10}, 16);
  ASSERT_EQ(paths.size(), 16U);
  EXPECT_EQ(std::set<Path>(paths.begin(), paths.end()).size(), 16U);
  std::set<CableIndex> first_cables;
  std::set<CableIndex> last_cables;
  for (std::size_t i = 0; i < 4; ++i) {  // the first four share nothing
    first_cables.insert(paths[i].cables.front());
    last_cables.insert(paths[i].cables.back());
  }
  EXPECT_EQ(first_cables.size(), 4U);
  EXPECT_EQ(last_cables.size(), 4U);
}

TEST(PathSet, IsBoundedIfThePathCountOverflows) {
  // A chain of 100 pairs of nodes, each joined by 3 cables: 3^100 paths.
  Pairs pairs;
  for (std::uint32_t i = 0; i < 100; ++i) pairs.insert(pairs.end(), 3, {i, i + 1});
  const Topology topology = sample_topology(101, pairs);
  const ShortestPaths shortest = shortest_paths_from(topology, NodeIndex{100});
  const std::vector<Path> paths = ranked_shortest_paths(shortest, NodeIndex{0}, 16);
  ASSERT_EQ(paths.size(), 16U);
  EXPECT_EQ(std::set<Path>(paths.begin(), paths.end()).size(), 16U);
  for (const Path& path : paths) EXPECT_TRUE(is_path(topology, path, NodeIndex{100}, NodeIndex{0}));
}

TEST(PathSet, RanksDisjointPathsFirst) {
  // Two relays with two cables each side: rank 1 shares no cable with rank 0.
  const Topology topology = sample_topology(3, {{0, 1}, {0, 1}, {1, 2}, {1, 2}});
  const std::vector<Path> paths = ranked_shortest_paths(shortest_paths_from(topology, NodeIndex{0}), NodeIndex{2}, 16);
  ASSERT_EQ(paths.size(), 4U);
  const auto cables = [](std::uint32_t first, std::uint32_t second) {
    return std::vector<CableIndex>{CableIndex{first}, CableIndex{second}};
  };
  EXPECT_EQ(paths[0].cables, cables(0, 2));
  EXPECT_EQ(paths[1].cables, cables(1, 3));
  EXPECT_EQ(paths[2].cables, cables(0, 3));
  EXPECT_EQ(paths[3].cables, cables(1, 2));
}

TEST(PathSet, IsTheSameInBothDirections) {
  std::mt19937 random(99);
  for (int graph = 0; graph < 100; ++graph) {
    const Topology topology = random_topology(random, 20, 60);
    for (std::uint32_t from = 0; from < topology.node_count(); ++from) {
      const std::uint32_t to = (from + 7) % static_cast<std::uint32_t>(topology.node_count());
      std::vector<Path> there = ranked_shortest_paths(shortest_paths_from(topology, NodeIndex{from}), NodeIndex{to}, 3);
      for (Path& path : there) {
        std::reverse(path.nodes.begin(), path.nodes.end());
        std::reverse(path.cables.begin(), path.cables.end());
      }
      EXPECT_EQ(there, ranked_shortest_paths(shortest_paths_from(topology, NodeIndex{to}), NodeIndex{from}, 3));
    }
  }
}

TEST(PathSet, IsEmptyWithoutAPath) {
  const Topology topology = sample_topology(3, {{0, 1}});
  const ShortestPaths shortest = shortest_paths_from(topology, NodeIndex{0});
  EXPECT_TRUE(ranked_shortest_paths(shortest, NodeIndex{2}, 16).empty());
  EXPECT_TRUE(ranked_shortest_paths(shortest, NodeIndex{3}, 16).empty());  // no such node
  EXPECT_TRUE(ranked_shortest_paths(shortest, NodeIndex{1}, 0).empty());
}

}  // namespace
}  // namespace cableway::routing
