// Predictions with known answers: the cables' limit is reached if nothing else limits.
#include "sim/prediction/prediction.h"

#include <chrono>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "routing/shapes/topology_generator.h"

namespace cableway::sim {
namespace {

using workload::Operation;

constexpr std::uint64_t kMiB = 1U << 20;

routing::Topology topology(const std::string& spec) {
  absl::StatusOr<routing::Topology> made = routing::generate_topology(spec);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

PredictionRequest request(const routing::Topology& topology, Operation operation, std::uint64_t size) {
  PredictionRequest request;
  request.workload.operation = operation;
  request.size = size;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) request.ranks.push_back(routing::NodeIndex{i});
  // No overhead, so that expected values can be computed by hand.
  request.circuits.wire.packet_overhead = 0;
  return request;
}

Prediction predicted(const routing::Topology& topology, const PredictionRequest& request) {
  absl::StatusOr<Prediction> prediction = predict(topology, request);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return prediction.ok() ? *prediction : Prediction{};
}

struct Known {
  std::string topology;
  Operation operation;
  double busbw;  // GB/s, the cables' limit
};

class KnownAnswerTest : public testing::TestWithParam<Known> {};

TEST_P(KnownAnswerTest, IsReachedAndNeverPassed) {
  const routing::Topology cables = topology(GetParam().topology);
  const Prediction prediction = predicted(cables, request(cables, GetParam().operation, 64 * kMiB));
  EXPECT_LE(prediction.busbw_GBps, GetParam().busbw);
  EXPECT_GE(prediction.busbw_GBps, 0.97 * GetParam().busbw);
}

// Cables of 8 Gbit/s carry 1 GB/s each way. In a ring every cable of one direction is used once for each byte that a
// rank forwards. All to all: 4 nodes have 8 directions of cables for 4 * (1 + 1 + 2) blocks of a fourth each, so a
// buffer needs half of its bytes' time, of which 3/4 count; on 6 nodes 12 directions and 6 * (1 + 1 + 2 + 2 + 3)
// sixths, of which 5/6 count. On a line of 4, 2 * 2 blocks of a fourth cross the cable in the middle, and 3/4 count.
INSTANTIATE_TEST_SUITE_P(
    Shapes, KnownAnswerTest,
    testing::Values(
        Known{"ring:4@8Gbit/s", Operation::kAllReduceRing, 1}, Known{"ring:4@8Gbit/s", Operation::kAllGather, 1},
        Known{"ring:4@8Gbit/s", Operation::kReduceScatter, 1}, Known{"ring:4@8Gbit/s", Operation::kBroadcast, 1},
        Known{"ring:4@8Gbit/s", Operation::kReduce, 1}, Known{"ring:4@8Gbit/s", Operation::kNeighbour, 1},
        Known{"ring:4@8Gbit/s", Operation::kOpposite, 1}, Known{"ring:4@8Gbit/s", Operation::kAllToAll, 1.5},
        Known{"ring:6@8Gbit/s", Operation::kAllToAll, 5.0 / 6 / (54.0 / 6 / 12)},
        Known{"line:4@8Gbit/s", Operation::kAllToAll, 0.75}, Known{"mesh:4@8Gbit/s", Operation::kAllToAll, 3},
        Known{"switch:4@8Gbit/s", Operation::kAllToAll, 1}),
    [](const auto& known) {
      std::string name = known.param.topology.substr(0, known.param.topology.find('@'));
      name[name.find(':')] = '_';
      workload::Workload workload;
      workload.operation = known.param.operation;
      return name + "_" + workload::operation_name(workload) + "_" + workload::variant_name(workload);
    });

TEST(PredictionTest, CountsCableCrossings) {
  const routing::Topology ring = topology("ring:4@8Gbit/s");
  PredictionRequest opposite = request(ring, Operation::kOpposite, 64 * kMiB);
  const Prediction prediction = predicted(ring, opposite);
  // Four flows over two cables each; channels use both ways around.
  const std::uint64_t chunks = 64 * kMiB / opposite.circuits.chunk_bytes;
  EXPECT_EQ(prediction.crossings, 8 * chunks);
  EXPECT_EQ(prediction.flows, 4U * 2);
  ASSERT_EQ(prediction.cables.size(), 8U);
  for (const CableLoad& cable : prediction.cables) {
    EXPECT_GE(cable.bytes, 64 * kMiB);
    EXPECT_GE(cable.utilisation, 0.97);
    EXPECT_LE(cable.utilisation, 1);
  }
  ASSERT_EQ(prediction.relays.size(), 4U);
  for (const RelayLoad& relay : prediction.relays) EXPECT_EQ(relay.circuits, 2U);
}

TEST(PredictionTest, IsTheSameEveryTime) {
  const routing::Topology torus = topology("torus:3x3@10Gbit/s,2us");
  const PredictionRequest all_to_all = request(torus, Operation::kAllToAll, 9 * kMiB);
  const Prediction first = predicted(torus, all_to_all);
  const Prediction second = predicted(torus, all_to_all);
  EXPECT_EQ(first.time_s, second.time_s);
  EXPECT_EQ(first.occurrences, second.occurrences);
  EXPECT_GT(first.occurrences, 0U);
}

TEST(PredictionTest, ASlowRelayIsTheLimit) {
  const routing::Topology line = topology("line:3@8Gbit/s");
  PredictionRequest pair = request(line, Operation::kPair, 64 * kMiB);
  pair.workload.source = 0;
  pair.workload.destination = 2;
  const double free = predicted(line, pair).busbw_GBps;
  EXPECT_GE(free, 0.97);
  // 131 us for a chunk of 64 KiB: half a GB/s.
  pair.circuits.relay.chunk_time = std::chrono::nanoseconds(131'072);
  EXPECT_NEAR(predicted(line, pair).busbw_GBps, 0.5, 0.01);
}

TEST(PredictionTest, RanksAgainstCableOrderTakeLonger) {
  const routing::Topology line = topology("line:4@8Gbit/s");
  PredictionRequest ordered = request(line, Operation::kAllReduceRing, 64 * kMiB);
  PredictionRequest against = ordered;
  against.ranks = {routing::NodeIndex{0}, routing::NodeIndex{2}, routing::NodeIndex{1}, routing::NodeIndex{3}};
  EXPECT_GT(predicted(line, against).time_s, 1.4 * predicted(line, ordered).time_s);
}

TEST(PredictionTest, SeveralRanksMayShareANode) {
  const routing::Topology line = topology("line:2@8Gbit/s");
  PredictionRequest request_of_four = request(line, Operation::kAllReduceRing, 64 * kMiB);
  request_of_four.ranks = {routing::NodeIndex{0}, routing::NodeIndex{0}, routing::NodeIndex{1}, routing::NodeIndex{1}};
  // The ring uses the two directions of the one cable.
  EXPECT_NEAR(predicted(line, request_of_four).busbw_GBps, 1, 0.03);
}

// Two functions of one plug on one wire: 98.3 Gbit/s each, 196.6 together; a plug that is slower is shared by halves.
routing::Topology one_split_plug(std::uint64_t plug_mbps, bool one_root) {
  std::vector<routing::Node> nodes = {{"n0"}, {"n1"}};
  std::vector<routing::Cable> cables;
  for (const char* function : {"0", "1"}) {
    routing::Cable& cable = cables.emplace_back();
    cable.name = std::string("c") + function;
    cable.a = {routing::NodeIndex{0}, "", std::string("10.0.") + function + ".1", "p0", one_root ? "r0" : ""};
    cable.b = {routing::NodeIndex{1}, "", std::string("10.0.") + function + ".2", "p0", ""};
    cable.rate_mbps = 98'300;
  }
  for (routing::Node& node : nodes) node.plugs = {{"p0", plug_mbps}};
  nodes[0].roots = {{"r0", 98'300}};
  return *routing::Topology::create("test", nodes, cables);
}

TEST(PredictionTest, AFunctionOfAPlugHasItsOwnRateAndTheWiresTogether) {
  constexpr double kFunction = 98.3 / 8;
  const auto both_ways = [](const routing::Topology& topology, int channels) {
    PredictionRequest pair = request(topology, Operation::kNeighbour, 256 * kMiB);
    pair.channels = channels;
    return predicted(topology, pair).busbw_GBps;
  };
  const routing::Topology fast = one_split_plug(200'000, false);
  EXPECT_NEAR(both_ways(fast, 1), kFunction, 0.01 * kFunction);
  EXPECT_NEAR(both_ways(fast, 2), 2 * kFunction, 0.02 * kFunction);
  EXPECT_NEAR(both_ways(fast, 3), 2 * kFunction * 3 / 4, 0.02 * kFunction) << "two of three flows share a function";
  const routing::Topology slow = one_split_plug(120'000, false);
  EXPECT_NEAR(both_ways(slow, 1), kFunction, 0.01 * kFunction);
  EXPECT_NEAR(both_ways(slow, 2), 120. / 8, 0.02 * kFunction);
  // Behind one PCIe link, two functions bring no more than one.
  const routing::Topology narrow = one_split_plug(200'000, true);
  EXPECT_NEAR(both_ways(narrow, 2), kFunction, 0.02 * kFunction);
  for (const int into : {0, 1}) {
    PredictionRequest one_way = request(narrow, Operation::kPair, 256 * kMiB);
    one_way.workload.source = 1 - into;
    one_way.workload.destination = into;
    EXPECT_NEAR(predicted(narrow, one_way).busbw_GBps, kFunction, 0.02 * kFunction) << "into n" << into;
  }
}

// A plug of 40 Gbit/s with four legs of 10 Gbit/s, each to a host of its own: a leg carries no more than its 10.
TEST(PredictionTest, ALegOfABreakoutCableHasItsOwnRate) {
  std::vector<routing::Node> nodes = {{"n0"}, {"n1"}, {"n2"}, {"n3"}, {"n4"}};
  nodes[0].plugs = {{"p0", 40'000}};
  std::vector<routing::Cable> cables;
  for (std::uint32_t leg = 1; leg <= 4; ++leg) {
    routing::Cable& cable = cables.emplace_back();
    cable.name = "c" + std::to_string(leg);
    cable.a = {routing::NodeIndex{0}, "", "10.0." + std::to_string(leg) + ".1", "p0"};
    cable.b = {routing::NodeIndex{leg}, "", "10.0." + std::to_string(leg) + ".2"};
    cable.rate_mbps = 10'000;
  }
  const routing::Topology legs = *routing::Topology::create("test", nodes, cables);
  PredictionRequest pair = request(legs, Operation::kPair, 64 * kMiB);
  pair.workload.source = 0;
  pair.workload.destination = 1;
  EXPECT_NEAR(predicted(legs, pair).busbw_GBps, 1.25, 0.02);
}

TEST(PredictionTest, ReportsErrors) {
  const routing::Topology ring = topology("ring:4");
  PredictionRequest alone = request(ring, Operation::kAllReduceRing, kMiB);
  alone.ranks.resize(1);
  EXPECT_EQ(predict(ring, alone).status().message(), "a workload needs two ranks or more, not 1");

  const absl::StatusOr<routing::Topology> apart = routing::Topology::create("lab", {{"n0"}, {"n1"}}, {});
  ASSERT_TRUE(apart.ok()) << apart.status();
  const absl::Status status = predict(*apart, request(*apart, Operation::kNeighbour, kMiB)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "rank 0 on node n0 cannot reach rank 1 on node n1: no path of cables joins them");
}

}  // namespace
}  // namespace cableway::sim
