#include "sim/flow_model/cable_bound.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "routing/shapes/topology_generator.h"
#include "sim/flow_model/flow_level_run.h"
#include "sim/workload/traffic.h"
#include "tests/routing/sample_topologies.h"
#include "tests/sim/flow_model/random_topology.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using routing::Topology;
using workload::Operation;
using workload::SizedWorkload;
using workload::Workload;

// Bytes of one second over a cable of 10 Gbit/s. Sizes that 3, 4, 5, 8, 9 and 16 ranks divide.
constexpr std::uint64_t kSecond = 1'250'000'000;
constexpr std::uint64_t kSize = kSecond / 10'000 * 720;
constexpr double kSizeS = static_cast<double>(kSize) / kSecond;

Topology ring(std::uint32_t nodes) {
  return routing::sample_topology(nodes, routing::ring_pairs(nodes));
}

CableBound bound_of(const Topology& topology, const Workload& workload, const std::vector<NodeIndex>& node_of_rank) {
  const absl::StatusOr<CableBound> bound =
      cable_bound(topology, node_of_rank, SizedWorkload{workload, kSize}, {.epsilon = 0.01});
  EXPECT_TRUE(bound.ok()) << bound.status();
  return bound.ok() ? *bound : CableBound{};
}

// `seconds`: in units of the time of the size over one cable.
void expect_bound(const Topology& topology, Operation operation, double seconds, BoundMethod method) {
  const CableBound bound = bound_of(topology, {operation}, all_nodes(topology));
  EXPECT_EQ(method_name(bound.method), method_name(method));
  EXPECT_LE(bound.seconds, kSizeS * seconds * (1 + 1e-9));
  EXPECT_GE(bound.seconds * (1 + bound.gap), kSizeS * seconds * (1 - 1e-9));
  EXPECT_LE(bound.gap, method == BoundMethod::kConcurrentFlow ? 0.01 : 0);
}

TEST(CableBoundTest, Broadcast) {
  using enum BoundMethod;
  expect_bound(ring(4), Operation::kBroadcast, 1. / 2, kMinimumCut);
  expect_bound(ring(4), Operation::kReduce, 1. / 2, kMinimumCut);
  expect_bound(routing::sample_topology(8, routing::line_pairs(8)), Operation::kBroadcast, 1, kMinimumCut);
  expect_bound(routing::sample_topology(5, routing::mesh_pairs(5)), Operation::kBroadcast, 1. / 4, kMinimumCut);
  expect_bound(routing::sample_topology(16, routing::torus_pairs(4, 4)), Operation::kReduce, 1. / 4, kMinimumCut);
}

TEST(CableBoundTest, AllGather) {
  using enum BoundMethod;
  // Every rank receives (n - 1) / n of the size over all its cables,
  expect_bound(ring(4), Operation::kAllGather, 3. / 4 / 2, kGatherCut);
  expect_bound(ring(5), Operation::kReduceScatter, 4. / 5 / 2, kGatherCut);
  expect_bound(routing::sample_topology(5, routing::mesh_pairs(5)), Operation::kAllGather, 1. / 5, kGatherCut);
  expect_bound(routing::sample_topology(16, routing::torus_pairs(4, 4)), Operation::kAllGather, 15. / 16 / 4,
               kGatherCut);
  // but at the end of a line everything arrives over one cable,
  expect_bound(routing::sample_topology(8, routing::line_pairs(8)), Operation::kAllGather, 7. / 8, kGatherCut);
  // and between two full meshes joined by one cable, half of the size crosses it, a bound below that of the ports.
  routing::Pairs pairs = routing::mesh_pairs(8);
  for (const auto& [a, b] : routing::mesh_pairs(8)) pairs.emplace_back(a + 8, b + 8);
  pairs.emplace_back(0, 8);
  expect_bound(routing::sample_topology(16, pairs), Operation::kAllGather, 1. / 2, kGatherCut);
}

TEST(CableBoundTest, AllReduce) {
  using enum BoundMethod;
  // Like reduce_scatter followed by all_gather,
  expect_bound(ring(4), Operation::kAllReduceRing, 2 * 3. / 4 / 2, kTreePacking);
  expect_bound(ring(4), Operation::kAllReduceTree, 2 * 3. / 4 / 2, kTreePacking);
  expect_bound(routing::sample_topology(5, routing::mesh_pairs(5)), Operation::kAllReduceRing, 2. / 5, kTreePacking);
  expect_bound(routing::sample_topology(16, routing::torus_pairs(4, 4)), Operation::kAllReduceRing, 2 * 15. / 16 / 4,
               kTreePacking);
  // but on a line or a star, sums and results may be in transit together.
  expect_bound(routing::sample_topology(8, routing::line_pairs(8)), Operation::kAllReduceRing, 1, kMinimumCut);
  expect_bound(routing::sample_topology(9, routing::star_pairs(8)), Operation::kAllReduceRing, 1, kMinimumCut);
}

TEST(CableBoundTest, PointToPoint) {
  using enum BoundMethod;
  expect_bound(ring(4), Operation::kAllToAll, 2. / 4, kConcurrentFlow);
  expect_bound(routing::sample_topology(8, routing::line_pairs(8)), Operation::kAllToAll, 16. / 8, kConcurrentFlow);
  expect_bound(routing::sample_topology(9, routing::star_pairs(8)), Operation::kAllToAll, 8. / 9, kConcurrentFlow);
  expect_bound(routing::sample_topology(16, routing::torus_pairs(4, 4)), Operation::kAllToAll, 8. / 16,
               kConcurrentFlow);
  // Opposite nodes of a ring: n / 2 hops each, over two directions of n cables.
  expect_bound(ring(4), Operation::kOpposite, 1, kConcurrentFlow);
  expect_bound(ring(8), Operation::kOpposite, 2, kConcurrentFlow);
  // Neighbours of a ring: x over the short way, the rest over the n - 1 others of the long one.
  expect_bound(ring(4), Operation::kNeighbour, 3. / 4, kConcurrentFlow);
}

TEST(CableBoundTest, OnePair) {
  for (const Operation operation : {Operation::kPair, Operation::kPingPong}) {
    const Topology four = ring(4);
    const CableBound bound = bound_of(four, {operation, 0, 2}, all_nodes(four));
    EXPECT_DOUBLE_EQ(bound.seconds, kSizeS / 2);
    EXPECT_EQ(bound.method, BoundMethod::kMinimumCut);
  }
}

// On a line of four, stage by stage: the first of 8 batches needs three steps, and seven more follow it.
TEST(CableBoundTest, APipelineHasToFill) {
  const Topology line = routing::sample_topology(4, routing::line_pairs(4));
  const Workload batches{.operation = Operation::kPipeline, .micro_batches = 8};
  const CableBound bound = bound_of(line, batches, all_nodes(line));
  EXPECT_NEAR(bound.seconds, kSizeS * 10 / 8, 1e-3 * kSizeS);
  EXPECT_EQ(bound.method, BoundMethod::kPipelineFill);
}

// Half the rate in the middle: batches queue only from there on.
TEST(CableBoundTest, TheSlowestStageLimitsAPipeline) {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2),
                                        routing::sample_cable(2, 2, 3)};
  cables[1].rate_mbps = 5000;
  const Topology line = routing::make_topology(routing::sample_nodes(4), cables);
  const Workload batches{.operation = Operation::kPipeline, .micro_batches = 4};
  EXPECT_NEAR(bound_of(line, batches, all_nodes(line)).seconds, kSizeS * (0.25 + 2 + 0.25), 1e-3 * kSizeS);
}

TEST(CableBoundTest, PortsOfASwitchAreShared) {
  const Topology topology = routing::make_topology(routing::sample_nodes(4), routing::switch_segment(0, {0, 1, 2, 3}));
  expect_bound(topology, Operation::kBroadcast, 1, BoundMethod::kMinimumCut);
  expect_bound(topology, Operation::kAllGather, 3. / 4, BoundMethod::kGatherCut);
  expect_bound(topology, Operation::kAllReduceRing, 2 * 3. / 4, BoundMethod::kInjection);
  expect_bound(topology, Operation::kAllToAll, 3. / 4, BoundMethod::kConcurrentFlow);
}

// A relayed byte needs the roots of the relay, too: once in, once out.
TEST(CableBoundTest, RootsAreShared) {
  const Topology sparks = *routing::generate_topology("sparks:4");
  constexpr double kHost = 10'000. / (2 * 98'300);
  expect_bound(sparks, Operation::kBroadcast, kHost, BoundMethod::kMinimumCut);
  expect_bound(sparks, Operation::kAllGather, 3. / 4 * kHost, BoundMethod::kGatherCut);
  expect_bound(sparks, Operation::kAllReduceRing, 2 * 3. / 4 * kHost, BoundMethod::kInjection);
  expect_bound(sparks, Operation::kAllToAll, 4. / 4 * kHost, BoundMethod::kConcurrentFlow);
  expect_bound(sparks, Operation::kOpposite, 2 * kHost, BoundMethod::kConcurrentFlow);
  EXPECT_DOUBLE_EQ(bound_of(sparks, {Operation::kPair, 0, 1}, all_nodes(sparks)).seconds, kSizeS * kHost);
}

// The hub of a star has no rank: eight leaves, each with one cable.
TEST(CableBoundTest, NodesWithoutRanksRelay) {
  const Topology star = routing::sample_topology(9, routing::star_pairs(8));
  std::vector<NodeIndex> leaves = all_nodes(star);
  leaves.erase(leaves.begin());
  EXPECT_DOUBLE_EQ(bound_of(star, {Operation::kBroadcast}, leaves).seconds, kSizeS);
  EXPECT_DOUBLE_EQ(bound_of(star, {Operation::kAllGather}, leaves).seconds, kSizeS * 7 / 8);
  EXPECT_DOUBLE_EQ(bound_of(star, {Operation::kAllReduceRing}, leaves).seconds, kSizeS * 2 * 7 / 8);
  EXPECT_NEAR(bound_of(star, {Operation::kAllToAll}, leaves).seconds, kSizeS * 7 / 8, 0.01 * kSizeS);
}

TEST(CableBoundTest, RanksOfOneNodeNeedNoCable) {
  const Topology pair = routing::sample_topology(2, {{0, 1}});
  const std::vector<NodeIndex> two_each = {NodeIndex{0}, NodeIndex{0}, NodeIndex{1}, NodeIndex{1}};
  EXPECT_DOUBLE_EQ(bound_of(pair, {Operation::kAllGather}, two_each).seconds, kSizeS / 2);
  EXPECT_DOUBLE_EQ(bound_of(pair, {Operation::kAllReduceRing}, two_each).seconds, kSizeS);
  EXPECT_NEAR(bound_of(pair, {Operation::kAllToAll}, two_each).seconds, kSizeS, 0.01 * kSizeS);
  const CableBound same = bound_of(pair, {Operation::kAllToAll}, {NodeIndex{1}, NodeIndex{1}});
  EXPECT_EQ(same.seconds, 0);
  EXPECT_EQ(same.method, BoundMethod::kNoCable);
  EXPECT_EQ(bound_of(pair, {Operation::kPair, 2, 3}, two_each).method, BoundMethod::kNoCable);
}

// The time of the workload's traffic over the paths that nodes choose is never below the bound.
TEST(CableBoundTest, NoRunBeatsTheBound) {
  std::mt19937 random(31);
  for (int round = 0; round < 60; ++round) {
    const Topology topology = random_topology(random, 2 + random() % 8);
    std::vector<NodeIndex> order = all_nodes(topology);
    std::shuffle(order.begin(), order.end(), random);
    order.resize(2 + random() % (order.size() - 1));
    const int ranks = static_cast<int>(order.size());
    for (const Workload& workload :
         {Workload{Operation::kAllReduceRing}, Workload{Operation::kAllReduceTree}, Workload{Operation::kAllGather},
          Workload{Operation::kReduceScatter}, Workload{Operation::kBroadcast}, Workload{Operation::kReduce},
          Workload{Operation::kAllToAll}, Workload{Operation::kOpposite}, Workload{Operation::kNeighbour},
          Workload{Operation::kPair, ranks - 1, 0}}) {
      SCOPED_TRACE(absl::StrCat("round ", round, ": ", operation_name(workload), " on ", ranks, " ranks"));
      const std::uint64_t size = rounded_size(workload, ranks, 1'000'000);
      std::vector<Transfer> transfers;
      for (const workload::RankTraffic& traffic : traffic_of(workload, ranks, size)) {
        transfers.push_back({order[static_cast<std::size_t>(traffic.from)],
                             order[static_cast<std::size_t>(traffic.to)],
                             traffic.bytes,
                             0,
                             {}});
      }
      const absl::StatusOr<FlowLevelResult> run = run_flow_level(topology, transfers);
      const absl::StatusOr<CableBound> bound = cable_bound(topology, order, {workload, size});
      ASSERT_TRUE(run.ok() && bound.ok()) << run.status() << bound.status();
      EXPECT_LE(bound->seconds, run->time_s * (1 + 1e-9));
      EXPECT_GT(bound->seconds, 0);
    }
  }
}

TEST(CableBoundTest, ReportsErrors) {
  const Topology apart = routing::sample_topology(3, {{0, 1}});
  const auto error = [&](const Workload& workload, const std::vector<NodeIndex>& order) {
    return cable_bound(apart, order, {workload, 1000}).status();
  };
  const std::vector<NodeIndex> all = all_nodes(apart);
  for (const Workload& workload :
       {Workload{Operation::kAllReduceRing}, Workload{Operation::kAllGather}, Workload{Operation::kBroadcast},
        Workload{Operation::kAllToAll}, Workload{Operation::kPair, 0, 2},
        Workload{.operation = Operation::kPipeline, .micro_batches = 2}}) {
    EXPECT_EQ(error(workload, all).code(), absl::StatusCode::kFailedPrecondition) << operation_name(workload);
    EXPECT_THAT(std::string(error(workload, all).message()), testing::HasSubstr("has no path to node"));
  }
  EXPECT_EQ(error({Operation::kAllGather}, {NodeIndex{0}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error({Operation::kPair, 0, 3}, all).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cableway::sim
