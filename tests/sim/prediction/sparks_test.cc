// Predictions for DGX Sparks against limits that were calculated from their hardware by hand (docs/sparks.md): each is
// within 3 %, at chunk level and at flow level.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "routing/shapes/topology_generator.h"
#include "sim/prediction/flow_prediction.h"
#include "sim/prediction/prediction.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using routing::Topology;
using workload::Operation;

constexpr double kTolerance = 0.03;

// From the least to the most, in GB/s.
struct Reckoned {
  double least;
  double most;
};

enum class Level { kChunk, kFlow };

Topology sparks(int hosts) {
  absl::StatusOr<Topology> made = routing::generate_topology("sparks:" + std::to_string(hosts));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// As `cableway sim --mtu` has it.
PredictionRequest spark_request(const Topology& topology, Operation operation, std::uint32_t mtu = 9000) {
  PredictionRequest request;
  request.workload.operation = operation;
  request.size = 1U << 28;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) request.ranks.push_back(NodeIndex{i});
  request.circuits.wire.packet_payload = mtu - 52;
  request.circuits.wire.packet_overhead = 66;
  return request;
}

PredictionRequest pair_request(const Topology& topology, int from, int to, std::uint32_t mtu = 9000) {
  PredictionRequest request = spark_request(topology, Operation::kPair, mtu);
  request.workload.source = from;
  request.workload.destination = to;
  return request;
}

class SparksTest : public testing::TestWithParam<Level> {
 protected:
  static Prediction predicted(const Topology& topology, const PredictionRequest& request) {
    absl::StatusOr<Prediction> prediction =
        GetParam() == Level::kChunk ? predict(topology, request) : predict_flow_level(topology, request);
    EXPECT_TRUE(prediction.ok()) << prediction.status();
    return prediction.ok() ? *prediction : Prediction{};
  }

  static void expect_near(double found_GBps, const Reckoned& reckoned) {
    EXPECT_GE(found_GBps, reckoned.least * (1 - kTolerance));
    EXPECT_LE(found_GBps, reckoned.most * (1 + kTolerance));
  }
};

INSTANTIATE_TEST_SUITE_P(Levels, SparksTest, testing::Values(Level::kChunk, Level::kFlow),
                         [](const auto& level) { return level.param == Level::kChunk ? "chunk" : "flow"; });

TEST_P(SparksTest, ACableIsFilledByBothFunctions) {
  const Topology ring = sparks(4);
  expect_near(predicted(ring, pair_request(ring, 0, 1)).busbw_GBps, {24.5, 24.5});
  expect_near(predicted(ring, pair_request(ring, 0, 1, 1500)).busbw_GBps, {23.1, 23.1});
}

TEST_P(SparksTest, OneFunctionAloneBringsHalf) {
  const Topology ring = sparks(4);
  PredictionRequest one = pair_request(ring, 0, 1);
  one.channels = 1;
  expect_near(predicted(ring, one).busbw_GBps, {12.2, 13.5});
}

// Every host sends to both neighbours and receives from both.
TEST_P(SparksTest, AHostTakesInAndSendsOutWhatBothItsLinksCarry) {
  const Topology ring = sparks(4);
  PredictionRequest both = spark_request(ring, Operation::kNeighbour);
  workload::Mix mix;
  mix.groups = {{"forth", {0, 1, 2, 3}, {both.workload, both.size}, 1, {}},
                {"back", {3, 2, 1, 0}, {both.workload, both.size}, 1, {}}};
  both.mix = mix;
  const Prediction prediction = predicted(ring, both);
  ASSERT_EQ(prediction.groups.size(), 2U);
  expect_near(prediction.groups[0].busbw_GBps + prediction.groups[1].busbw_GBps, {24.4, 24.4});
  for (const SharedLoad& load : prediction.shared) {
    if (load.kind != SharedLoad::Kind::kRoot) continue;
    EXPECT_GT(load.out.utilisation, 0.98) << load.name;
    EXPECT_GT(load.in.utilisation, 0.98) << load.name;
  }
}

TEST_P(SparksTest, RingCollectivesFillOneWayAround) {
  const Topology ring = sparks(4);
  for (const Operation operation : {Operation::kAllReduceRing, Operation::kAllGather, Operation::kReduceScatter}) {
    expect_near(predicted(ring, spark_request(ring, operation)).busbw_GBps, {22, 24});
  }
}

// The relay's links carry each byte in and out: both directions of one pair share them.
TEST_P(SparksTest, ARelayCarriesHalfForEachDirectionOfAPair) {
  const Topology ring = sparks(4);
  std::vector<routing::Node> nodes(ring.nodes().begin(), ring.nodes().end());
  nodes[3].draining = true;  // relays nothing
  const Topology one_relay = *routing::Topology::create("test", nodes, {ring.cables().begin(), ring.cables().end()});
  PredictionRequest opposite = spark_request(one_relay, Operation::kOpposite);
  opposite.ranks = {NodeIndex{0}, NodeIndex{2}};
  expect_near(predicted(one_relay, opposite).busbw_GBps, {12.2, 12.2});
}

TEST_P(SparksTest, AllToAllBringsAQuarterForEachPeer) {
  const Topology ring = sparks(4);
  for (const int channels : {1, 2, 4}) {
    PredictionRequest all = spark_request(ring, Operation::kAllToAll);
    all.channels = channels;
    // Bus bandwidth counts what a rank sends to its three peers.
    expect_near(predicted(ring, all).busbw_GBps / 3, {6.1, 6.1});
  }
}

// The functions of both plugs share the same two links.
TEST_P(SparksTest, ASecondCableBetweenTwoHostsAddsNothing) {
  const Topology two = sparks(2);
  const Topology one = *routing::Topology::create("test", {two.nodes().begin(), two.nodes().end()},
                                                  {two.cables().begin(), two.cables().begin() + 2});
  for (const int channels : {2, 4, 8}) {
    PredictionRequest request = spark_request(two, Operation::kAllReduceRing);
    request.channels = channels;
    const double of_one = predicted(one, request).busbw_GBps;
    expect_near(of_one, {24.5, 24.5});
    EXPECT_NEAR(predicted(two, request).busbw_GBps, of_one, 0.005 * of_one) << channels << " channels";
  }
}

}  // namespace
}  // namespace cableway::sim
