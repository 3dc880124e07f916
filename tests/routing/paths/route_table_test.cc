#include "routing/paths/route_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using Flow = std::pair<NodeIndex, NodeIndex>;

// How many of `flows`, with this ordinal, cross each cable in each direction: two counts per cable.
std::vector<std::size_t> crossings(const Topology& topology, const std::vector<Flow>& flows, std::uint64_t ordinal) {
  std::vector<std::size_t> count(topology.cable_count() * 2, 0);
  for (const auto& [from, to] : flows) {
    const Path path = compute_routes(topology, from).path_for_flow(to, ordinal);
    for (std::size_t i = 0; i < path.hops(); ++i) {
      const bool forth = topology.cable(path.cables[i]).a.node == path.nodes[i];
      ++count[path.cables[i].value * 2 + (forth ? 0 : 1)];
    }
  }
  return count;
}

// A ring of `count` nodes whose names are shuffled by `random`, and all its opposite pairs, both ways.
std::pair<Topology, std::vector<Flow>> shuffled_ring(std::uint32_t count, std::mt19937& random) {
  std::vector<std::uint32_t> around(count);
  std::iota(around.begin(), around.end(), 0U);
  std::shuffle(around.begin(), around.end(), random);
  Pairs pairs;
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < count; ++i) {
    pairs.emplace_back(around[i], around[(i + 1) % count]);
    flows.emplace_back(NodeIndex{around[i]}, NodeIndex{around[(i + count / 2) % count]});
  }
  std::shuffle(pairs.begin(), pairs.end(), random);
  return {sample_topology(count, pairs), flows};
}

TEST(RouteTable, OppositePairsOfAFourRingLoadEveryCableOnceEachWay) {
  const Topology ring = sample_topology(4, ring_pairs(4));
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < 4; ++i) flows.emplace_back(NodeIndex{i}, NodeIndex{(i + 2) % 4});
  for (std::uint64_t ordinal = 0; ordinal < 4; ++ordinal) {
    EXPECT_EQ(crossings(ring, flows, ordinal), std::vector<std::size_t>(8, 1)) << "ordinal " << ordinal;
  }
}

TEST(RouteTable, OppositePairsOfAnyEvenRingLoadItsCablesEvenly) {
  std::mt19937 random(4);
  for (const std::uint32_t count : {4U, 6U, 8U, 10U, 12U, 16U, 64U}) {
    for (int deal = 0; deal < 20; ++deal) {
      const auto [ring, flows] = shuffled_ring(count, random);
      const std::vector<std::size_t> loads = crossings(ring, flows, 0);
      const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
      EXPECT_EQ(std::accumulate(loads.begin(), loads.end(), std::size_t{0}), std::size_t{count} * count / 2);
      EXPECT_LE(*most - *least, count % 4 == 0 ? 0U : 1U) << count << " nodes, deal " << deal;
    }
  }
}

TEST(RouteTable, AllPairsOfAFourRingLoadItsCablesEvenly) {
  const Topology ring = sample_topology(4, ring_pairs(4));
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < 12; ++i) flows.emplace_back(NodeIndex{i / 3}, NodeIndex{(i / 3 + 1 + i % 3) % 4});
  EXPECT_EQ(crossings(ring, flows, 0), std::vector<std::size_t>(8, 2));
}

TEST(RouteTable, OppositePairsOfATorusSpreadOverItsCables) {
  const Topology torus = sample_topology(16, torus_pairs(4, 4));
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < 16; ++i) {
    flows.emplace_back(NodeIndex{i}, NodeIndex{(i / 4 + 2) % 4 * 4 + (i + 2) % 4});
  }
  std::vector<std::size_t> all(torus.cable_count() * 2, 0);
  for (std::uint64_t ordinal = 0; ordinal < 16; ++ordinal) {
    const std::vector<std::size_t> loads = crossings(torus, flows, ordinal);
    EXPECT_LE(*std::max_element(loads.begin(), loads.end()), 4U);  // 64 crossings, 64 directed cables
    for (std::size_t i = 0; i < loads.size(); ++i) all[i] += loads[i];
  }
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  EXPECT_GE(*least, 12U);  // a perfect spread would be 16
  EXPECT_LE(*most, 20U);
}

TEST(RouteTable, ConsecutiveFlowsTakeDifferentPaths) {
  std::mt19937 random(11);
  const std::vector<Topology> topologies = {sample_topology(4, ring_pairs(4)), sample_topology(9, torus_pairs(3, 3)),
                                            sample_topology(16, torus_pairs(4, 4)),
                                            sample_topology(3, {{0, 1}, {0, 1}, {0, 1}, {1, 2}})};
  for (const Topology& topology : topologies) {
    for (std::uint32_t from = 0; from < topology.node_count(); ++from) {
      const RouteTable routes = compute_routes(topology, NodeIndex{from});
      for (std::uint32_t to = 0; to < topology.node_count(); ++to) {
        const Route route = routes.route_to(NodeIndex{to});
        std::map<Path, std::size_t> uses;
        for (std::uint64_t flow = 0; flow < 2 * route.paths.size(); ++flow) {
          const Path path = routes.path_for_flow(NodeIndex{to}, flow);
          ++uses[path];
          if (route.paths.size() > 1) {
            EXPECT_NE(path, routes.path_for_flow(NodeIndex{to}, flow + 1));
          }
        }
        for (const RankedPath& ranked : route.paths) EXPECT_EQ(uses[ranked.path], 2U);
      }
    }
  }
}

TEST(RouteTable, ReversePathEqualsTheOtherNodesPath) {
  for (const Topology& topology :
       {sample_topology(6, ring_pairs(6)), sample_topology(16, torus_pairs(4, 4)),
        sample_topology(3, {{0, 1}, {0, 1}, {0, 1}, {1, 2}}), *generate_topology("sparks:4")}) {
    std::vector<RouteTable> tables;
    for (std::uint32_t node = 0; node < topology.node_count(); ++node) {
      tables.push_back(compute_routes(topology, NodeIndex{node}));
    }
    for (std::uint32_t from = 0; from < topology.node_count(); ++from) {
      for (std::uint32_t to = 0; to < topology.node_count(); ++to) {
        const auto paths = tables[from].paths_for_flows_and_back(NodeIndex{to}, 8);
        ASSERT_EQ(paths.size(), 8U);
        for (std::size_t flow = 0; flow < paths.size(); ++flow) {
          EXPECT_EQ(paths[flow].first, tables[from].path_for_flow(NodeIndex{to}, flow));
          EXPECT_EQ(paths[flow].second, tables[to].path_for_flow(NodeIndex{from}, flow));
        }
      }
    }
  }
}

TEST(RouteTable, AcceptsAnyOrdinal) {
  // Three paths, with flow 0 not on the first: the largest ordinals must not wrap around.
  const RouteTable routes = compute_routes(sample_topology(3, {{0, 1}, {0, 1}, {0, 1}, {1, 2}}), NodeIndex{2});
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();  // a multiple of 3
  EXPECT_NE(routes.path_for_flow(NodeIndex{0}, 0), routes.route_to(NodeIndex{0}).paths[0].path);
  EXPECT_EQ(routes.path_for_flow(NodeIndex{0}, kLast), routes.path_for_flow(NodeIndex{0}, 0));
  EXPECT_EQ(routes.path_for_flow(NodeIndex{0}, kLast - 1), routes.path_for_flow(NodeIndex{0}, 2));
}

TEST(RouteTable, ReachesItselfByAPathOfNoCables) {
  const RouteTable routes = compute_routes(sample_topology(4, ring_pairs(4)), NodeIndex{2});
  EXPECT_EQ(routes.self(), NodeIndex{2});
  EXPECT_EQ(routes.node_count(), 4U);
  const Route route = routes.route_to(NodeIndex{2});
  ASSERT_EQ(route.paths.size(), 1U);
  EXPECT_EQ(route.cost, PathCost{});
  EXPECT_EQ(route.paths[0].path, (Path{{}, {NodeIndex{2}}}));
  EXPECT_EQ(route.paths[0].path.relays(), 0U);
  EXPECT_EQ(routes.path_for_flow(NodeIndex{2}, 5), route.paths[0].path);
}

TEST(RouteTable, ReportsUnreachableNodes) {
  const RouteTable routes = compute_routes(sample_topology(4, {{0, 1}, {2, 3}}), NodeIndex{0});
  EXPECT_TRUE(routes.reaches(NodeIndex{1}));
  for (const std::uint32_t unreached : {2U, 3U, 4U, 4'000'000'000U}) {
    EXPECT_FALSE(routes.reaches(NodeIndex{unreached}));
    EXPECT_TRUE(routes.route_to(NodeIndex{unreached}).paths.empty());
    EXPECT_FALSE(routes.path_for_flow(NodeIndex{unreached}, 0).exists());
    EXPECT_FALSE(routes.paths_for_flows_and_back(NodeIndex{unreached}, 1).at(0).second.exists());
  }
}

TEST(RouteTable, WeighsAPathByItsSlowestCable) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2), sample_cable(2, 0, 1)};
  cables[0].rate_mbps = 1000;
  cables[1].rate_mbps = 5000;
  const Topology topology = make_topology(sample_nodes(3), cables);
  const Route route = compute_routes(topology, NodeIndex{0}).route_to(NodeIndex{2});
  ASSERT_EQ(route.paths.size(), 2U);
  EXPECT_EQ(route.paths[0].weight_mbps, 1000U);
  EXPECT_EQ(route.paths[1].weight_mbps, 5000U);
}

TEST(RouteTable, EqualsATableOfAnEqualTopology) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2), sample_cable(2, 2, 0)};
  const RouteTable routes = compute_routes(make_topology(sample_nodes(3), cables), NodeIndex{0});
  std::reverse(cables.begin(), cables.end());
  EXPECT_EQ(routes, compute_routes(make_topology(sample_nodes(3), cables), NodeIndex{0}));
  EXPECT_NE(routes, compute_routes(make_topology(sample_nodes(3), cables), NodeIndex{1}));
  cables.pop_back();
  EXPECT_NE(routes, compute_routes(make_topology(sample_nodes(3), cables), NodeIndex{0}));
}

}  // namespace
}  // namespace cableway::routing
