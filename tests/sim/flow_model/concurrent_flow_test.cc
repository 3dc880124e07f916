#include "sim/flow_model/concurrent_flow.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "routing/paths/max_flow.h"
#include "routing/paths/route_table.h"
#include "tests/routing/sample_topologies.h"
#include "tests/sim/flow_model/random_topology.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using routing::Topology;

constexpr double kSecondOfCable = 1.25e9;  // bytes of one second over a cable of 10 Gbit/s
constexpr double kEpsilon = 0.01;

ConcurrentFlow flow_of(const Topology& topology, const std::vector<Demand>& demands) {
  const absl::StatusOr<ConcurrentFlow> flow =
      max_concurrent_flow(topology, CableResources(topology), demands, {.epsilon = kEpsilon});
  EXPECT_TRUE(flow.ok()) << flow.status();
  return flow.ok() ? *flow : ConcurrentFlow{};
}

void expect_time(const ConcurrentFlow& flow, double seconds) {
  EXPECT_LE(flow.least_time_s, seconds * (1 + 1e-9));
  EXPECT_GE(flow.reached_time_s, seconds * (1 - 1e-9));
  EXPECT_LE(flow.gap(), kEpsilon);
}

std::vector<Demand> all_pairs(std::uint32_t nodes, double bytes) {
  std::vector<Demand> demands;
  for (std::uint32_t a = 0; a < nodes; ++a) {
    for (std::uint32_t b = 0; b < nodes; ++b) {
      if (a != b) demands.push_back({NodeIndex{a}, NodeIndex{b}, bytes});
    }
  }
  return demands;
}

TEST(ConcurrentFlowTest, AllPairsOfKnownShapes) {
  // A ring of four: 4 * (1 + 1 + 2) hops over 8 cable directions.
  expect_time(flow_of(routing::sample_topology(4, routing::ring_pairs(4)), all_pairs(4, kSecondOfCable)), 2);
  // A line of four: 2 * 2 pairs over the cable in the middle.
  expect_time(flow_of(routing::sample_topology(4, routing::line_pairs(4)), all_pairs(4, kSecondOfCable)), 4);
  // A star of five leaves: each leaf sends to five others.
  expect_time(flow_of(routing::sample_topology(6, routing::star_pairs(5)), all_pairs(6, kSecondOfCable)), 5);
  expect_time(flow_of(routing::sample_topology(5, routing::mesh_pairs(5)), all_pairs(5, kSecondOfCable)), 1);
  // A torus of 4 x 4: 16 * 32 hops over 64 cable directions.
  expect_time(flow_of(routing::sample_topology(16, routing::torus_pairs(4, 4)), all_pairs(16, kSecondOfCable)), 8);
}

TEST(ConcurrentFlowTest, UsesAllPaths) {
  const Topology ring = routing::sample_topology(4, routing::ring_pairs(4));
  expect_time(flow_of(ring, {{NodeIndex{0}, NodeIndex{2}, kSecondOfCable}}), 0.5);
  // Neighbours of a ring, simultaneously: each splits its traffic between the short and the long way.
  std::vector<Demand> neighbours;
  for (std::uint32_t i = 0; i < 4; ++i) neighbours.push_back({NodeIndex{i}, NodeIndex{(i + 1) % 4}, kSecondOfCable});
  expect_time(flow_of(ring, neighbours), 0.75);
}

TEST(ConcurrentFlowTest, OnePairIsAMaximumFlow) {
  std::mt19937 random(19);
  for (int round = 0; round < 100; ++round) {
    const Topology topology = random_topology(random, 2 + random() % 9);
    const NodeIndex last{static_cast<std::uint32_t>(topology.node_count() - 1)};
    const double expected = 1e6 / bytes_per_second(routing::max_flow_mbps(topology, NodeIndex{0}, last));
    const ConcurrentFlow flow = flow_of(topology, {{NodeIndex{0}, last, 1e6}});
    ASSERT_LE(flow.least_time_s, expected * (1 + 1e-9)) << "round " << round;
    ASSERT_GE(flow.reached_time_s, expected * (1 - 1e-9)) << "round " << round;
    ASSERT_LE(flow.gap(), 2 * kEpsilon) << "round " << round;
  }
}

// Any routing is slower than the bound; here, the paths that nodes choose.
TEST(ConcurrentFlowTest, NoRoutingBeatsTheBound) {
  std::mt19937 random(23);
  for (int round = 0; round < 100; ++round) {
    const Topology topology = random_topology(random, 2 + random() % 9);
    const std::uint32_t nodes = static_cast<std::uint32_t>(topology.node_count());
    const CableResources resources(topology);
    std::vector<Demand> demands;
    std::vector<double> busy_s(resources.count(), 0);
    for (std::uint32_t i = 0; i < 12; ++i) {
      const Demand demand{NodeIndex{static_cast<std::uint32_t>(random() % nodes)},
                          NodeIndex{static_cast<std::uint32_t>(random() % nodes)}, 1e6 * (random() % 5)};
      if (demand.source == demand.destination) continue;
      demands.push_back(demand);
      std::vector<ResourceIndex> used;
      resources.append_path(routing::compute_routes(topology, demand.source).path_for_flow(demand.destination, i),
                            used);
      for (const ResourceIndex resource : used) busy_s[resource] += demand.bytes / resources.capacity()[resource];
    }
    const ConcurrentFlow flow = flow_of(topology, demands);
    ASSERT_LE(flow.least_time_s, *std::max_element(busy_s.begin(), busy_s.end()) * (1 + 1e-9)) << "round " << round;
    ASSERT_LE(flow.gap(), 2 * kEpsilon) << "round " << round;
  }
}

TEST(ConcurrentFlowTest, NothingToCarryTakesNoTime) {
  const Topology line = routing::sample_topology(2, {{0, 1}});
  EXPECT_EQ(flow_of(line, {}).least_time_s, 0);
  EXPECT_EQ(flow_of(line, {{NodeIndex{0}, NodeIndex{1}, 0}}).least_time_s, 0);
}

TEST(ConcurrentFlowTest, StopsAtTheGivenLimits) {
  const Topology torus = routing::sample_topology(16, routing::torus_pairs(4, 4));
  const CableResources resources(torus);
  const std::vector<Demand> demands = all_pairs(16, kSecondOfCable);
  const auto phases = [&](const ConcurrentFlowSettings& settings) {
    const absl::StatusOr<ConcurrentFlow> flow = max_concurrent_flow(torus, resources, demands, settings);
    return flow.ok() ? flow->phases : 0;
  };
  EXPECT_GT(phases({.epsilon = 0.001}), 3U);
  EXPECT_EQ(phases({.epsilon = 0.001, .most_trees = 3ULL * 16}), 3U);
  EXPECT_EQ(phases({.epsilon = 0.001, .most_trees = 0}), 1U);
  EXPECT_EQ(phases({.epsilon = 0.001, .enough_s = 1000}), 1U);
}

TEST(ConcurrentFlowTest, NamesNodesWithoutAPath) {
  const Topology apart = routing::sample_topology(3, {{0, 1}});
  const std::vector<Demand> demands = {{NodeIndex{0}, NodeIndex{1}, 1}, {NodeIndex{2}, NodeIndex{1}, 1}};
  const absl::StatusOr<ConcurrentFlow> flow = max_concurrent_flow(apart, CableResources(apart), demands);
  EXPECT_EQ(flow.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(flow.status().message()), "node n2 has no path to node n1");
}

TEST(ConcurrentFlowTest, NoPathCrossesADrainingNode) {
  std::vector<routing::Node> nodes = routing::sample_nodes(4);
  nodes[1].draining = true;
  std::vector<routing::Cable> cables;
  for (const auto& [a, b] : routing::ring_pairs(4)) {
    cables.push_back(routing::sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
  }
  const Topology ring = routing::make_topology(nodes, cables);
  expect_time(flow_of(ring, {{NodeIndex{0}, NodeIndex{2}, kSecondOfCable}}), 1);
  expect_time(flow_of(ring, {{NodeIndex{0}, NodeIndex{1}, kSecondOfCable}}), 0.5);
}

}  // namespace
}  // namespace cableway::sim
