#include "sim/flow_model/all_to_all_routes.h"

#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "routing/shapes/topology_generator.h"
#include "tests/routing/sample_topologies.h"
#include "tests/sim/flow_model/random_topology.h"
#include "tests/slow_build.h"

namespace cableway::sim {
namespace {

using routing::Cable;
using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;

AllToAllRoutes routes_of(const Topology& topology) {
  return *AllToAllRoutes::compute(topology);
}

AllToAllShares shares_of(const Topology& topology) {
  MaxMinShares memory;
  return all_to_all_shares(routes_of(topology), memory);
}

Topology with_cables(const Topology& topology, std::vector<Cable> cables) {
  return routing::make_topology({topology.nodes().begin(), topology.nodes().end()}, std::move(cables));
}

TEST(AllToAllRoutesTest, PathsAreThoseOfTheFirstFlows) {
  for (const char* spec : {"torus:3x3", "sparks:4"}) {
    const Topology topology = *routing::generate_topology(spec);
    const AllToAllRoutes routes = routes_of(topology);
    const auto nodes = static_cast<std::uint32_t>(topology.node_count());
    EXPECT_EQ(routes.pair_count(), nodes * (nodes - 1));
    for (std::uint32_t s = 0; s < nodes; ++s) {
      for (std::uint32_t d = 0; d < nodes; ++d) {
        if (s == d) continue;
        const routing::RouteTable table = routing::compute_routes(topology, NodeIndex{s});
        for (std::uint32_t ordinal = 0; ordinal < kFlowsPerPair; ++ordinal) {
          const routing::Path path = table.path_for_flow(NodeIndex{d}, ordinal);
          std::vector<ResourceIndex> hops;
          for (std::size_t hop = 0; hop < path.hops(); ++hop) {
            hops.push_back(CableResources(topology).direction(path.cables[hop], path.nodes[hop]).resource());
          }
          const FlowIndex flow = kFlowsPerPair * routes.pair(NodeIndex{s}, NodeIndex{d}) + ordinal;
          EXPECT_THAT(routes.hops().of(flow), testing::ElementsAreArray(hops)) << spec;
        }
      }
    }
  }
}

TEST(AllToAllRoutesTest, WithoutCablesEqualsComputedFromScratch) {
  std::mt19937 random(41);
  for (int round = 0; round < test::cases_here(1500); ++round) {
    const Topology topology = random_topology(random, 2 + random() % 10);
    std::vector<CableIndex> gone;
    std::vector<Cable> rest;
    for (std::uint32_t cable = 0; cable < topology.cable_count(); ++cable) {
      if (random() % 5 == 0) {
        gone.push_back(CableIndex{cable});
      } else {
        rest.push_back(topology.cables()[cable]);
      }
    }
    ASSERT_TRUE(routes_of(topology).without(gone) == routes_of(with_cables(topology, rest))) << "round " << round;
  }
}

TEST(AllToAllRoutesTest, WithACableEqualsComputedFromScratch) {
  std::mt19937 random(43);
  for (int round = 0; round < test::cases_here(1500); ++round) {
    const std::uint32_t nodes = 2 + random() % 10;
    Topology topology = random_topology(random, nodes);
    // Sometimes disconnected.
    if (random() % 3 == 0) topology = routes_of(topology).without(std::vector<CableIndex>{CableIndex{0}}).topology();
    const std::uint32_t a = random() % nodes;
    const std::uint32_t b = random() % nodes;
    if (a == b) continue;
    std::vector<Cable> added = {routing::sample_cable(5000, a, b)};
    if (random() % 2 == 0) added.push_back(routing::sample_cable(round % 2 == 0 ? 0xffff : 5001, a, b));
    for (Cable& cable : added) {
      cable.latency_us = random() % 3 * 10'000;
      if (random() % 2 == 0) cable.a.root = cable.b.root = random() % 2 == 0 ? "r0" : "r1";
    }
    routing::keep_to_parts({topology.nodes().begin(), topology.nodes().end()}, added);
    std::vector<Cable> cables(topology.cables().begin(), topology.cables().end());
    cables.insert(cables.end(), added.begin(), added.end());
    const absl::StatusOr<AllToAllRoutes> more = routes_of(topology).with(added);
    ASSERT_TRUE(more.ok()) << more.status();
    ASSERT_TRUE(*more == routes_of(with_cables(topology, cables))) << "round " << round;
  }
}

TEST(AllToAllRoutesTest, TooManyNodesAreRefused) {
  const Topology topology = routing::sample_topology(kMaxAllToAllNodes + 1, routing::star_pairs(kMaxAllToAllNodes));
  const absl::StatusOr<AllToAllRoutes> routes = AllToAllRoutes::compute(topology);
  EXPECT_EQ(routes.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(routes.status().message()),
            "the topology has 513 nodes; expected at most 512 for an analysis of all pairs");
}

TEST(AllToAllSharesTest, KnownShapes) {
  // All of a 4-ring's eight cable directions carry two pairs' data: one's whole, and half of two others'.
  const AllToAllShares ring = shares_of(routing::sample_topology(4, routing::ring_pairs(4)));
  EXPECT_EQ(ring.pairs, 12U);
  EXPECT_EQ(ring.pairs_cut, 0U);
  EXPECT_DOUBLE_EQ(ring.least_rate, 1.25e9 / 2);
  EXPECT_DOUBLE_EQ(ring.total_rate, 12 * 1.25e9 / 2);
  // On a line of three, 0 -> 2 shares a cable with 0 -> 1, then another with 1 -> 2.
  const AllToAllShares line = shares_of(routing::sample_topology(3, routing::line_pairs(3)));
  EXPECT_DOUBLE_EQ(line.least_rate, 1.25e9 / 2);
  EXPECT_DOUBLE_EQ(line.total_rate, 6 * 1.25e9 / 2);
}

TEST(AllToAllSharesTest, TheHottestCableIsTheOneInTheMiddle) {
  const Topology line = routing::sample_topology(6, routing::line_pairs(6));
  const AllToAllShares shares = shares_of(line);
  EXPECT_DOUBLE_EQ(shares.least_rate, 1.25e9 / 9);
  ASSERT_TRUE(shares.hottest.has_value());
  EXPECT_EQ(line.cable(shares.hottest->cable).name, "c2");
}

TEST(AllToAllSharesTest, SharedPortsLimit) {
  // Each of four nodes sends to three others through its one port.
  const AllToAllShares shares =
      shares_of(routing::make_topology(routing::sample_nodes(4), routing::switch_segment(0, {0, 1, 2, 3})));
  EXPECT_DOUBLE_EQ(shares.least_rate, 1.25e9 / 3);
  EXPECT_TRUE(shares.hottest.has_value());
}

// Each host sends to three others and relays the data of one pair, over two PCIe links, out and in.
TEST(AllToAllSharesTest, SharedRootsLimit) {
  const AllToAllShares sparks = shares_of(*routing::generate_topology("sparks:4"));
  EXPECT_DOUBLE_EQ(sparks.least_rate, 98.3e9 / 8 / 2);
  EXPECT_DOUBLE_EQ(sparks.total_rate, 12 * sparks.least_rate);
  // On a line of three, the host in the middle sends and receives four flows, but a cable only two.
  std::vector<Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2)};
  cables[0].b.root = cables[1].a.root = "r0";
  std::vector<routing::Node> nodes = routing::sample_nodes(3);
  nodes[1].roots = {{"r0", 12'000}};
  const AllToAllShares line = shares_of(routing::make_topology(nodes, cables));
  EXPECT_DOUBLE_EQ(line.least_rate, 12e9 / 8 / 4);
  EXPECT_TRUE(line.hottest_kind == ResourceKind::kSendingRoot || line.hottest_kind == ResourceKind::kReceivingRoot);
}

// Two cables behind one root carry together what one of them carries alone, so losing either changes nothing.
TEST(AllToAllSharesTest, TheLastCableBehindARootCarriesNoMoreThanIt) {
  std::vector<Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 0, 1)};
  for (Cable& cable : cables) {
    cable.a.root = "r0";
    cable.rate_mbps = 5000;
  }
  std::vector<routing::Node> nodes = routing::sample_nodes(2);
  nodes[0].roots = {{"r0", 5000}};
  const Topology both = routing::make_topology(nodes, cables);
  EXPECT_DOUBLE_EQ(shares_of(both).least_rate, 5e9 / 8);
  for (const std::uint32_t gone : {0U, 1U}) {
    const Topology one = routes_of(both).without(std::vector<CableIndex>{CableIndex{gone}}).topology();
    ASSERT_EQ(one.cable_count(), 1U);
    EXPECT_DOUBLE_EQ(shares_of(one).least_rate, 5e9 / 8);
  }
  const Topology alone = routing::make_topology(nodes, {cables.front()});
  EXPECT_DOUBLE_EQ(shares_of(alone).total_rate, 2 * 5e9 / 8) << "each direction";
}

// One flow fills one function of a plug, and a pair has two.
TEST(AllToAllSharesTest, APairFillsBothFunctionsOfAPlug) {
  EXPECT_DOUBLE_EQ(shares_of(*routing::generate_topology("sparks:2")).least_rate, 2 * 98.3e9 / 8);
}

TEST(AllToAllSharesTest, CountsPairsThatAreCut) {
  const AllToAllShares two_parts = shares_of(routing::sample_topology(4, {{0, 1}, {2, 3}}));
  EXPECT_EQ(two_parts.pairs, 4U);
  EXPECT_EQ(two_parts.pairs_cut, 8U);
  const AllToAllShares nothing = shares_of(routing::sample_topology(3, {}));
  EXPECT_EQ(nothing.pairs_cut, 6U);
  EXPECT_EQ(nothing.least_rate, 0);
  EXPECT_FALSE(nothing.hottest.has_value());
}

}  // namespace
}  // namespace cableway::sim
