// Loads of shared resources are the sums of their cables' loads.
#include "sim/prediction/cable_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;
using ::testing::IsEmpty;

constexpr double kCableRate = 10e9 / 8;  // bytes a second of sample cables

// Loads with no bytes on any cable.
std::vector<CableLoad> idle_loads(const Topology& topology) {
  std::vector<CableLoad> loads;
  for (std::uint32_t i = 0; i < 2 * topology.cable_count(); ++i) loads.push_back({CableIndex{i / 2}, i % 2 == 0, 0, 0});
  return loads;
}

// Adds `bytes` from one node to another on each cable between them.
void send(const Topology& topology, std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
          std::vector<CableLoad>& loads) {
  for (const routing::Adjacency& each : topology.cables_between(NodeIndex{from}, NodeIndex{to})) {
    const bool from_a = topology.cable(each.cable).a.node == NodeIndex{from};
    loads[2ULL * each.cable.value + (from_a ? 0 : 1)].bytes += bytes;
  }
}

TEST(SharedLoads, OfAPortOnASwitchIsTheSumOfItsCables) {
  const Topology topology = routing::make_topology(routing::sample_nodes(3), routing::switch_segment(0, {0, 1, 2}));
  std::vector<CableLoad> loads = idle_loads(topology);
  const auto half = static_cast<std::uint64_t>(kCableRate / 2);
  send(topology, 1, 0, half, loads);
  send(topology, 1, 2, half / 2, loads);
  send(topology, 2, 1, half / 4, loads);
  const std::vector<SharedLoad> shared = shared_loads(topology, loads, 1);
  ASSERT_EQ(shared.size(), 3U);
  for (const SharedLoad& load : shared) {
    EXPECT_EQ(load.kind, SharedLoad::Kind::kConnector);
    EXPECT_EQ(load.cables.size(), 2U);
    EXPECT_EQ(load.rate_mbps, 10'000U);
  }
  EXPECT_EQ(shared[1].node, NodeIndex{1});
  EXPECT_EQ(shared[1].out.bytes, half + half / 2);
  EXPECT_NEAR(shared[1].out.utilisation, 0.75, 1e-6);
  EXPECT_NEAR(shared[1].in.utilisation, 0.125, 1e-6);
  EXPECT_EQ(shared[0].out.bytes, 0U);
  EXPECT_NEAR(shared[0].in.utilisation, 0.5, 1e-6);
  EXPECT_NEAR(shared[2].in.utilisation, 0.25, 1e-6);
}

TEST(SharedLoads, TwinsAreAWireAndWiresOfOnePlugShareIt) {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 0, 1),
                                        routing::sample_cable(2, 1, 2)};
  for (const std::size_t twin : {0U, 1U}) cables[twin].a.plug = cables[twin].b.plug = "p0";
  cables[2].a.plug = "p0";  // a breakout: the same plug of n1 leads to n2, too
  const Topology topology = routing::make_topology(routing::sample_nodes(3), cables);
  std::vector<CableLoad> loads = idle_loads(topology);
  const auto part = static_cast<std::uint64_t>(kCableRate / 5);
  send(topology, 1, 0, part, loads);
  send(topology, 1, 2, part, loads);
  const std::vector<SharedLoad> shared = shared_loads(topology, loads, 1);
  ASSERT_EQ(shared.size(), 2U);
  EXPECT_EQ(shared[0].kind, SharedLoad::Kind::kWire);
  EXPECT_EQ(shared[0].name, "c0=c1");
  EXPECT_EQ(shared[0].node, NodeIndex{0}) << "its end a";
  EXPECT_NEAR(shared[0].in.utilisation, 0.4, 1e-6);
  EXPECT_EQ(shared[0].out.bytes, 0U);
  EXPECT_EQ(shared[1].kind, SharedLoad::Kind::kConnector);
  EXPECT_EQ(shared[1].name, "n1 plug p0");
  EXPECT_EQ(shared[1].cables.size(), 3U);
  EXPECT_NEAR(shared[1].out.utilisation, 0.6, 1e-6);
}

TEST(SharedLoads, OfARootIsWhatItsPortsSendAndReceive) {
  const Topology topology = *routing::generate_topology("sparks:3");
  std::vector<CableLoad> loads = idle_loads(topology);
  const auto tenth = static_cast<std::uint64_t>(98'300e6 / 8 / 10);
  send(topology, 0, 1, 3 * tenth, loads);  // on each function
  send(topology, 0, 2, 4 * tenth, loads);
  send(topology, 1, 0, 2 * tenth, loads);
  std::vector<SharedLoad> shared = shared_loads(topology, loads, 1);
  ASSERT_EQ(shared.size(), 3U + 6U) << "wires, then roots";
  EXPECT_EQ(shared[2].kind, SharedLoad::Kind::kWire);
  const SharedLoad& root = shared[4];
  EXPECT_EQ(root.kind, SharedLoad::Kind::kRoot);
  EXPECT_EQ(root.name, "n0 root r1");
  EXPECT_EQ(root.node, NodeIndex{0});
  EXPECT_EQ(root.cables.size(), 2U);
  EXPECT_EQ(root.rate_mbps, 98'300U);
  EXPECT_NEAR(root.out.utilisation, 0.7, 1e-6);
  EXPECT_NEAR(root.in.utilisation, 0.2, 1e-6);
  EXPECT_EQ(shared[5].name, "n1 root r0");
  EXPECT_NEAR(shared[5].in.utilisation, 0.3, 1e-6);
}

TEST(SharedLoads, IndependentCablesShareNothing) {
  const Topology apart = routing::sample_topology(4, routing::ring_pairs(4));
  EXPECT_THAT(shared_loads(apart, idle_loads(apart), 1), IsEmpty());
}

TEST(SharedLoads, HasNoUtilisationInNoTime) {
  const Topology topology = routing::make_topology(routing::sample_nodes(3), routing::switch_segment(0, {0, 1, 2}));
  for (const SharedLoad& load : shared_loads(topology, idle_loads(topology), 0)) EXPECT_EQ(load.out.utilisation, 0);
}

}  // namespace
}  // namespace cableway::sim
