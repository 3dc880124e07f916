// Predictions with several circuits a flow: what they gain where cables are idle, and that they cost nothing elsewhere.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "sim/prediction/prediction.h"
#include "sim/prediction/simulated_size.h"
#include "sim/workload/workload_text.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;

constexpr double kCable = 10e9 / 8 / 1e9;  // GB/s, of sample cables
constexpr double kPayloadShare = 0.955;    // of a cable's rate, with packets of 1500 bytes

PredictionRequest request_for(const Topology& topology, const std::string& text, CircuitShare shares) {
  PredictionRequest request;
  const workload::SizedWorkload sized = *workload::parse_workload(text);
  request.workload = sized.workload;
  request.size = sized.size;
  request.circuits.shares = shares;
  request.circuits.chunk_bytes = 128U << 10;  // of a message that is striped, where no relay asks for less
  request.ranks.resize(topology.node_count());
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) request.ranks[i] = NodeIndex{i};
  return request;
}

Prediction predict_with(const Topology& topology, const PredictionRequest& request) {
  absl::StatusOr<Prediction> prediction = predict(topology, request);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return prediction.ok() ? *std::move(prediction) : Prediction{};
}

// How many times as fast as with one path.
double gain(const Topology& topology, const std::string& text, CircuitShare shares) {
  const double one_s = predict_with(topology, request_for(topology, text, CircuitShare::kNone)).time_s;
  return one_s / predict_with(topology, request_for(topology, text, shares)).time_s;
}

Topology ring_of(std::uint32_t nodes, std::uint64_t mbps = 10'000) {
  const Topology ring = routing::sample_topology(nodes, routing::ring_pairs(nodes));
  std::vector<routing::Cable> cables(ring.cables().begin(), ring.cables().end());
  for (routing::Cable& cable : cables) cable.rate_mbps = mbps;
  return *Topology::create(ring.cluster(), {ring.nodes().begin(), ring.nodes().end()}, std::move(cables));
}

// Whatever the rate: estimates must not assume one.
TEST(MultipathPrediction, AFlowUsesTheIdleWayAround) {
  for (const std::uint64_t mbps : {500U, 10'000U, 100'000U, 400'000U}) {
    SCOPED_TRACE(mbps);
    EXPECT_GT(gain(ring_of(4, mbps), "sendrecv:256MiB,neighbour", CircuitShare::kAlternate), 1.27) << "of 4 / 3";
    EXPECT_GT(gain(ring_of(4, mbps), "all_gather:256MiB", CircuitShare::kAlternate), 1.27);
    EXPECT_GT(gain(ring_of(6, mbps), "sendrecv:256MiB,neighbour", CircuitShare::kAlternate), 1.14) << "of 6 / 5";
    EXPECT_GT(gain(ring_of(6, mbps), "all_gather:256MiB", CircuitShare::kAlternate), 1.14);
  }
}

TEST(MultipathPrediction, WhereAllCablesAreInUseNothingIsLost) {
  EXPECT_GT(gain(ring_of(4), "sendrecv:256MiB,opposite", CircuitShare::kAlternate), 0.98);
  EXPECT_GT(gain(ring_of(4), "all_to_all:256MiB", CircuitShare::kAlternate), 0.98);
}

TEST(MultipathPrediction, SmallMessagesTakeAsLong) {
  EXPECT_NEAR(gain(ring_of(4), "all_reduce:64KiB", CircuitShare::kAlternate), 1, 0.001);
  EXPECT_NEAR(gain(ring_of(4), "pingpong:8B,0-2", CircuitShare::kAlternate), 1, 0.001);
}

TEST(MultipathPrediction, ABundleAddsItsCables) {
  //        c0
  //   n0 ====== n1    and nothing else
  //        c1
  const Topology two = routing::sample_topology(2, {{0, 1}, {0, 1}});
  PredictionRequest request = request_for(two, "sendrecv:256MiB,0-1", CircuitShare::kBundle);
  request.channels = 1;
  const Prediction bundle = predict_with(two, request);
  EXPECT_GT(bundle.algbw_GBps, 0.95 * 2 * kCable * kPayloadShare);
  EXPECT_EQ(bundle.flows, 1U);
  EXPECT_EQ(bundle.circuits, 2U);
  request.circuits.shares = CircuitShare::kNone;
  const Prediction one = predict_with(two, request);
  EXPECT_LT(one.algbw_GBps, kCable);
  EXPECT_EQ(one.circuits, 1U);
}

// Both functions of a plug, with one flow; and nobody's detour where a plug's links are full (docs/sparks.md).
TEST(MultipathPrediction, OneFlowFillsBothFunctionsOfAPlug) {
  const Topology sparks = *routing::generate_topology("sparks:4");
  PredictionRequest request = request_for(sparks, "sendrecv:1GiB,0-1", CircuitShare::kAlternate);
  request.channels = 1;
  const Prediction both = predict_with(sparks, request);
  EXPECT_EQ(both.circuits, 2U);
  request.circuits.shares = CircuitShare::kNone;
  EXPECT_NEAR(both.algbw_GBps / predict_with(sparks, request).algbw_GBps, 2, 0.02);
  EXPECT_GT(gain(sparks, "all_reduce:1GiB", CircuitShare::kAlternate), 0.99);
  EXPECT_GT(gain(sparks, "all_to_all:1GiB", CircuitShare::kAlternate), 0.97);
}

TEST(MultipathPrediction, ABundleHasNoAlternates) {
  const Prediction bundle =
      predict_with(ring_of(4), request_for(ring_of(4), "sendrecv:16MiB,neighbour", CircuitShare::kBundle));
  EXPECT_EQ(bundle.circuits, bundle.flows);
}

// While a cable is left nothing stands still for as long as a set-up takes.
TEST(MultipathPrediction, ACutOfOneOfTwoCablesIsHardlyAPause) {
  const Topology two = routing::sample_topology(2, {{0, 1}, {0, 1}});
  PredictionRequest request = request_for(two, "sendrecv:1GiB,0-1", CircuitShare::kAlternate);
  request.channels = 1;
  request.cuts = {{CableIndex{0}, std::chrono::milliseconds(100)}};
  const Prediction prediction = predict_with(two, request);
  ASSERT_EQ(prediction.cuts[0].hit.size(), 1U);
  ASSERT_TRUE(prediction.cuts[0].hit[0].reroute.has_value());
  EXPECT_EQ(prediction.cuts[0].hit[0].reroute->path.cables, std::vector{CableIndex{1}});
  EXPECT_LT(prediction.cuts[0].hit[0].reroute->pause, std::chrono::milliseconds(1));
  EXPECT_GT(prediction.bytes_again, 0U);
  // Both cables for a tenth of a second, one for the rest.
  EXPECT_NEAR(prediction.time_s, (double{1U << 30} / 1e9 / (kCable * kPayloadShare)) - 0.1, 0.03);
}

TEST(MultipathPrediction, AFlowMovesToTheBundleOfItsNewPath) {
  // The flow from n0 to n1 loses both cables, one after the other, and then uses both cables of the way around.
  //        c0
  //   n0 ====== n1
  //   ||   c1   ||
  //   n3 ====== n2
  const Topology wide = routing::sample_topology(4, {{0, 1}, {0, 1}, {1, 2}, {1, 2}, {2, 3}, {2, 3}, {3, 0}, {3, 0}});
  PredictionRequest request = request_for(wide, "sendrecv:16GiB,0-1", CircuitShare::kAlternate);
  request.channels = 1;
  request.cuts = {{CableIndex{0}, std::chrono::milliseconds(100)}, {CableIndex{1}, std::chrono::milliseconds(200)}};
  const Prediction prediction = predict_with(wide, request);
  ASSERT_FALSE(prediction.early_end.has_value());
  for (const CutEffect& cut : prediction.cuts) {
    ASSERT_EQ(cut.hit.size(), 1U);
    ASSERT_TRUE(cut.hit[0].reroute.has_value());
  }
  // A new bundle is in use when its first circuit has proved itself, after 1.3 s; until then one cable is.
  const double at_two_cables_s = double{16ULL << 30} / 1e9 / (2 * kCable * kPayloadShare);
  EXPECT_GT(prediction.time_s, at_two_cables_s);
  EXPECT_LT(prediction.time_s, at_two_cables_s + 0.8);
}

TEST(MultipathPrediction, TheSameRequestGivesTheSamePrediction) {
  const PredictionRequest request = request_for(ring_of(4), "all_to_all:64MiB", CircuitShare::kAlternate);
  const Prediction first = predict_with(ring_of(4), request);
  const Prediction second = predict_with(ring_of(4), request);
  EXPECT_EQ(first.time_s, second.time_s);
  EXPECT_EQ(first.occurrences, second.occurrences);
}

TEST(MultipathPrediction, TheSizeCountsAllCircuits) {
  const Topology topology = ring_of(4);
  const auto hops = [&](CircuitShare shares) {
    return simulated_size(topology, request_for(topology, "sendrecv:16MiB,neighbour", shares))->hops;
  };
  EXPECT_EQ(hops(CircuitShare::kNone), 8U) << "4 neighbours, 2 channels";
  EXPECT_EQ(hops(CircuitShare::kAlternate), 8U + 24U) << "and three cables the other way around for each";
}

}  // namespace
}  // namespace cableway::sim
