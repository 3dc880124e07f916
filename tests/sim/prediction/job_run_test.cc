// Jobs with mixes and with cables cut during the run; the same at flow level; limits of the simulated size.
#include "sim/prediction/job_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "sim/prediction/flow_prediction.h"
#include "sim/prediction/prediction.h"
#include "sim/prediction/simulated_size.h"
#include "sim/workload/mix_file.h"
#include "sim/workload/workload_text.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kRate = 10e9 / 8;  // bytes a second of sample cables
// The share of a cable's rate that is payload, with packets of 1500 bytes.
constexpr double kPayload = 0.955;

Topology ring(std::uint32_t nodes) {
  return routing::sample_topology(nodes, routing::ring_pairs(nodes));
}

PredictionRequest request_for(const Topology& topology, const char* text) {
  PredictionRequest request;
  const workload::SizedWorkload sized = *workload::parse_workload(text);
  request.workload = sized.workload;
  request.size = sized.size;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) request.ranks.push_back(NodeIndex{i});
  return request;
}

Prediction predict_job(const Topology& topology, const PredictionRequest& request) {
  absl::StatusOr<Prediction> prediction = predict(topology, request);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return prediction.ok() ? *std::move(prediction) : Prediction{};
}

// The cable between two nodes of a sample ring.
CableIndex cable_between(const Topology& topology, std::uint32_t a, std::uint32_t b) {
  return topology.cables_between(NodeIndex{a}, NodeIndex{b}).front().cable;
}

TEST(JobRun, GroupsOfAMixRunConcurrentlyOrInSequence) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "all_reduce:1MiB");
  const auto time_of = [&](const std::string& text) {
    request.mix = *workload::parse_mix(text, "mix.toml");
    return predict_job(topology, request);
  };
  const std::string one = "[[group]]\nname = \"x\"\nranks = [0, 1]\nworkload = \"sendrecv:32MiB,0-1\"\n";
  const std::string other = "[[group]]\nname = \"y\"\nranks = [2, 3]\nworkload = \"sendrecv:32MiB,0-1\"\n";
  const Prediction alone = time_of(one);
  const Prediction at_once = time_of(one + other);
  const Prediction in_turn = time_of(one + other + "after = [\"x\"]\n");
  const Prediction twice = time_of(one + "repeat = 2\n");
  EXPECT_NEAR(at_once.time_s, alone.time_s, 0.01 * alone.time_s) << "they share no cable";
  EXPECT_NEAR(in_turn.time_s, 2 * alone.time_s, 0.01 * alone.time_s);
  EXPECT_NEAR(twice.time_s, 2 * alone.time_s, 0.05 * alone.time_s);
  ASSERT_EQ(in_turn.groups.size(), 2U);
  EXPECT_EQ(in_turn.groups[0].started_s, 0);
  EXPECT_NEAR(in_turn.groups[1].started_s, in_turn.groups[0].time_s, 1e-9);
  EXPECT_EQ(in_turn.groups[1].name, "y");
  EXPECT_GT(in_turn.groups[1].busbw_GBps, 0);
}

TEST(JobRun, AMixWithAnInvalidRankIsRefused) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "all_reduce:1MiB");
  request.mix = *workload::parse_mix("[[group]]\nranks = [0, 4]\nworkload = \"all_reduce:1MiB\"\n", "mix.toml");
  EXPECT_EQ(predict(topology, request).status().message(), "the mix names rank 4, but the job has 4 ranks, 0 to 3");
}

TEST(JobRun, AJobOutlivesACut) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "all_reduce:64MiB");
  const double undisturbed_s = predict_job(topology, request).time_s;
  request.cuts = {{cable_between(topology, 1, 2), std::chrono::milliseconds(20)}};
  const Prediction prediction = predict_job(topology, request);
  EXPECT_FALSE(prediction.early_end.has_value());
  EXPECT_GT(prediction.time_s, undisturbed_s);
  EXPECT_GT(prediction.bytes_again, 0U);
  ASSERT_EQ(prediction.cuts.size(), 1U);
  EXPECT_TRUE(prediction.cuts[0].happened);
  ASSERT_EQ(prediction.cuts[0].hit.size(), 2U) << "rank 1 to rank 2, on two channels";
  for (const CutEffect::HitFlow& hit : prediction.cuts[0].hit) {
    EXPECT_EQ(hit.flow.source, 1);
    EXPECT_EQ(hit.flow.destination, 2);
    EXPECT_EQ(hit.flow.path.nodes, (std::vector<NodeIndex>{NodeIndex{1}, NodeIndex{2}}));
    ASSERT_TRUE(hit.reroute.has_value());
    EXPECT_EQ(hit.reroute->path.nodes,
              (std::vector<NodeIndex>{NodeIndex{1}, NodeIndex{0}, NodeIndex{3}, NodeIndex{2}}));
    EXPECT_GE(hit.reroute->pause, request.collective.set_up);
    EXPECT_LT(hit.reroute->pause, request.collective.set_up + std::chrono::milliseconds(2));
  }
}

TEST(JobRun, AfterACutTheJobIsAsFastAsOnTheCablesLeft) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "sendrecv:256MiB,0-1");
  const double undisturbed_s = predict_job(topology, request).time_s;
  request.cuts = {{cable_between(topology, 0, 1), std::chrono::milliseconds(1)}};
  const Prediction prediction = predict_job(topology, request);
  const double longer_s = prediction.time_s - undisturbed_s;
  const double set_up_s = std::chrono::duration<double>(request.collective.set_up).count();
  EXPECT_GT(longer_s, set_up_s / 2);
  EXPECT_LT(longer_s, set_up_s + 0.002) << "the other way around is as fast";
  EXPECT_EQ(prediction.cuts[0].hit.size(), 2U);
}

TEST(JobRun, TwoCutsInTurnMoveAFlowTwice) {
  const Topology topology = routing::sample_topology(4, {{0, 1}, {1, 3}, {0, 2}, {2, 3}, {0, 3}});
  PredictionRequest request = request_for(topology, "sendrecv:256MiB,0-3");
  request.channels = 1;
  request.cuts = {{cable_between(topology, 0, 3), std::chrono::milliseconds(10)}};
  const routing::Path second = predict_job(topology, request).cuts[0].hit[0].reroute->path;
  request.cuts.push_back({second.cables[0], std::chrono::milliseconds(30)});
  const Prediction prediction = predict_job(topology, request);
  EXPECT_FALSE(prediction.early_end.has_value());
  ASSERT_EQ(prediction.cuts[1].hit.size(), 1U);
  EXPECT_EQ(prediction.cuts[1].hit[0].flow.path, second);
  ASSERT_TRUE(prediction.cuts[1].hit[0].reroute.has_value());
  EXPECT_NE(prediction.cuts[1].hit[0].reroute->path, second);
}

// Ranks 2 and 3, then ranks 0 and 1.
PredictionRequest one_pair_after_the_other(const Topology& topology) {
  PredictionRequest request = request_for(topology, "all_reduce:1MiB");
  request.mix = *workload::parse_mix(
      "[[group]]\nname = \"x\"\nranks = [2, 3]\nworkload = \"sendrecv:32MiB,0-1\"\n"
      "[[group]]\nname = \"y\"\nranks = [0, 1]\nworkload = \"sendrecv:32MiB,0-1\"\nafter = [\"x\"]\n",
      "mix.toml");
  return request;
}

TEST(JobRun, AGroupThatStartsAfterTheCutUsesWhatIsLeft) {
  const Topology topology = ring(4);
  PredictionRequest request = one_pair_after_the_other(topology);
  request.cuts = {{cable_between(topology, 0, 1), std::chrono::milliseconds(5)}};
  const Prediction prediction = predict_job(topology, request);
  EXPECT_FALSE(prediction.early_end.has_value());
  EXPECT_EQ(prediction.groups[1].operation_s.size(), 1U);
  ASSERT_EQ(prediction.cuts[0].hit.size(), 2U);
  for (const CutEffect::HitFlow& hit : prediction.cuts[0].hit) {
    ASSERT_TRUE(hit.reroute.has_value());
    EXPECT_EQ(hit.reroute->path.nodes,
              (std::vector<NodeIndex>{NodeIndex{0}, NodeIndex{3}, NodeIndex{2}, NodeIndex{1}}));
    EXPECT_EQ(hit.reroute->pause, Duration{0}) << "it was set up before there was anything to send";
  }
}

TEST(JobRun, ACutAtTheStartIsAPause) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "sendrecv:64MiB,0-1");
  request.cuts = {{cable_between(topology, 0, 1), Duration{0}}};
  const Prediction prediction = predict_job(topology, request);
  ASSERT_EQ(prediction.cuts[0].hit.size(), 2U);
  ASSERT_TRUE(prediction.cuts[0].hit[0].reroute.has_value());
  EXPECT_NEAR(std::chrono::duration<double>(prediction.cuts[0].hit[0].reroute->pause).count(), 0.004, 0.001);
}

TEST(JobRun, AGroupThatHasNotStartedEndsNothingWithoutAPath) {
  const Topology topology = ring(4);
  PredictionRequest request = one_pair_after_the_other(topology);
  request.cuts = {{cable_between(topology, 0, 1), std::chrono::milliseconds(2)},
                  {cable_between(topology, 0, 3), std::chrono::milliseconds(2)}};
  const Prediction prediction = predict_job(topology, request);
  ASSERT_TRUE(prediction.early_end.has_value());
  EXPECT_EQ(prediction.groups[0].operation_s.size(), 1U) << "the first group needs none of them";
  EXPECT_NEAR(prediction.whole_s, prediction.groups[0].time_s, 0.001);
}

TEST(JobRun, AFlowThatHasSentAllNeedsNoPath) {
  const Topology line = routing::sample_topology(3, routing::line_pairs(3));
  PredictionRequest request = request_for(line, "pipeline:8MiB");
  request.channels = 4;
  const double undisturbed_s = predict_job(line, request).time_s;
  request.cuts = {{cable_between(line, 0, 1), std::chrono::microseconds(7900)}};
  const Prediction prediction = predict_job(line, request);
  EXPECT_FALSE(prediction.early_end.has_value()) << prediction.early_end->reason;
  EXPECT_EQ(prediction.time_s, undisturbed_s);
}

TEST(JobRun, ACutDuringTheSetUpAfterAnotherHitsNoFlowAgain) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "sendrecv:64MiB,0-2");
  request.channels = 1;
  request.cuts = {{cable_between(topology, 0, 1), std::chrono::milliseconds(10)},
                  {cable_between(topology, 1, 2), std::chrono::milliseconds(12)}};
  const Prediction prediction = predict_job(topology, request);
  EXPECT_EQ(prediction.cuts[0].hit.size(), 1U);
  EXPECT_TRUE(prediction.cuts[1].hit.empty()) << "its circuit had ended already";
}

TEST(JobRun, ACutOfThePathJustChosenLengthensThePause) {
  const Topology mesh = routing::sample_topology(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
  PredictionRequest request = request_for(mesh, "sendrecv:256MiB,0-1");
  request.channels = 1;
  request.cuts = {{cable_between(mesh, 0, 1), std::chrono::milliseconds(10)}};
  const routing::Path chosen = predict_job(mesh, request).cuts[0].hit[0].reroute->path;
  // Set up at 14 ms; its first chunk follows when the destination has announced over it.
  request.cuts.push_back({chosen.cables[0], std::chrono::nanoseconds(14'000'500)});
  const Prediction prediction = predict_job(mesh, request);
  ASSERT_EQ(prediction.cuts[1].hit.size(), 1U);
  EXPECT_EQ(prediction.cuts[1].hit[0].flow.path, chosen);
  ASSERT_TRUE(prediction.cuts[0].hit[0].reroute.has_value());
  ASSERT_TRUE(prediction.cuts[1].hit[0].reroute.has_value());
  EXPECT_NE(prediction.cuts[1].hit[0].reroute->path, chosen);
  EXPECT_GT(prediction.cuts[0].hit[0].reroute->pause, prediction.cuts[1].hit[0].reroute->pause);
}

TEST(JobRun, ACutThatLeavesNoPathEndsTheJob) {
  const Topology line = routing::sample_topology(4, routing::line_pairs(4));
  PredictionRequest request = request_for(line, "sendrecv:64MiB,0-3");
  const double whole_s = predict_job(line, request).time_s;
  request.cuts = {{cable_between(line, 1, 2), std::chrono::milliseconds(10)}};
  const Prediction prediction = predict_job(line, request);
  ASSERT_TRUE(prediction.early_end.has_value());
  EXPECT_NEAR(prediction.whole_s, 0.014, 0.0005) << "once a source has looked for another path";
  EXPECT_EQ(prediction.time_s, 0) << "it never took that long: it did not end";
  EXPECT_NEAR(prediction.early_end->share_done, 0.010 / whole_s, 0.1);
  EXPECT_THAT(prediction.early_end->reason, AllOf(HasSubstr("was cut"), HasSubstr("no other path is left")));
  ASSERT_FALSE(prediction.cuts[0].hit.empty());
  EXPECT_EQ(prediction.cuts[0].hit[0].flow.path.nodes.size(), 4U);
  EXPECT_FALSE(prediction.cuts[0].hit[0].reroute.has_value());
}

TEST(JobRun, ACutBesideTheJobOrAfterItChangesNothing) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "sendrecv:16MiB,0-1");
  const double undisturbed_s = predict_job(topology, request).time_s;
  request.cuts = {{cable_between(topology, 2, 3), std::chrono::milliseconds(1)},
                  {cable_between(topology, 0, 1), std::chrono::hours(1)}};
  const Prediction prediction = predict_job(topology, request);
  EXPECT_FALSE(prediction.early_end.has_value());
  EXPECT_EQ(prediction.time_s, undisturbed_s);
  EXPECT_TRUE(prediction.cuts[0].happened);
  EXPECT_TRUE(prediction.cuts[0].hit.empty());
  EXPECT_FALSE(prediction.cuts[1].happened);
}

TEST(JobRun, CutsOfTheSameInstantTakeEffectTogether) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "all_reduce:64MiB");
  request.cuts = {{cable_between(topology, 2, 3), std::chrono::milliseconds(20)},
                  {cable_between(topology, 0, 1), std::chrono::milliseconds(20)},
                  {cable_between(topology, 1, 2), std::chrono::milliseconds(40)}};
  const Prediction prediction = predict_job(topology, request);
  ASSERT_TRUE(prediction.early_end.has_value());
  for (const std::size_t cut : {0U, 1U}) {
    EXPECT_TRUE(prediction.cuts[cut].happened);
    ASSERT_EQ(prediction.cuts[cut].hit.size(), 2U) << "one ring over it, on two channels";
    EXPECT_EQ(prediction.cuts[cut].hit[0].flow.source, cut == 0 ? 2 : 0);
  }
  EXPECT_FALSE(prediction.cuts[2].happened) << "the job was over";
  EXPECT_TRUE(prediction.cuts[2].hit.empty());
}

TEST(JobRun, AFlowOverTwoCablesCutAtOnceIsHitByBoth) {
  const Topology line = routing::sample_topology(4, routing::line_pairs(4));
  PredictionRequest request = request_for(line, "sendrecv:64MiB,0-3");
  request.cuts = {{cable_between(line, 0, 1), std::chrono::milliseconds(10)},
                  {cable_between(line, 2, 3), std::chrono::milliseconds(10)}};
  const Prediction prediction = predict_job(line, request);
  ASSERT_TRUE(prediction.early_end.has_value());
  EXPECT_EQ(prediction.cuts[0].hit.size(), 2U);
  EXPECT_EQ(prediction.cuts[1].hit.size(), 2U);
}

TEST(JobRun, ACutAffectsAllCablesOfAWire) {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 0, 1)};
  for (routing::Cable& cable : cables) {
    cable.a.plug = "p0";
    cable.b.plug = "p0";
  }
  const Topology twins = routing::make_topology(routing::sample_nodes(2), cables);
  PredictionRequest request = request_for(twins, "sendrecv:64MiB,0-1");
  request.cuts = {{CableIndex{1}, std::chrono::milliseconds(5)}};
  const Prediction prediction = predict_job(twins, request);
  ASSERT_TRUE(prediction.early_end.has_value());
  EXPECT_EQ(prediction.cuts[0].wire, (std::vector<CableIndex>{CableIndex{0}, CableIndex{1}}));
}

TEST(JobRun, ReportsProgress) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "all_reduce:64MiB");
  std::vector<double> shares;
  request.progress = [&](double share, double virtual_s) {
    shares.push_back(share);
    EXPECT_GT(virtual_s, 0);
  };
  predict_job(topology, request);
  ASSERT_GT(shares.size(), 1U);
  for (std::size_t i = 1; i < shares.size(); ++i) EXPECT_GE(shares[i], shares[i - 1]);
  EXPECT_GT(shares.back(), shares.front());
  EXPECT_LE(shares.back(), 1.0);
}

TEST(FlowPrediction, IsNearTheChunkLevelIfBandwidthLimits) {
  const Topology topology = ring(4);
  for (const char* text : {"all_reduce:64MiB", "all_to_all:64MiB", "sendrecv:64MiB", "broadcast:64MiB"}) {
    SCOPED_TRACE(text);
    const PredictionRequest request = request_for(topology, text);
    const absl::StatusOr<Prediction> flow = predict_flow_level(topology, request);
    ASSERT_TRUE(flow.ok()) << flow.status();
    EXPECT_NEAR(flow->time_s / predict_job(topology, request).time_s, 1, 0.1);
  }
}

TEST(FlowPrediction, GroupsOfAMixWaitForEachOther) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "all_reduce:1MiB");
  request.mix = *workload::parse_mix(
      "[[group]]\nname = \"x\"\nranks = [0, 1]\nworkload = \"sendrecv:32MiB,0-1\"\n"
      "[[group]]\nname = \"y\"\nranks = [2, 3]\nworkload = \"sendrecv:32MiB,0-1\"\nrepeat = 3\nafter = [\"x\"]\n",
      "mix.toml");
  const absl::StatusOr<Prediction> flow = predict_flow_level(topology, request);
  ASSERT_TRUE(flow.ok()) << flow.status();
  const double alone_s = 32.0 * (1 << 20) / (kRate * kPayload);
  EXPECT_NEAR(flow->time_s, 4 * alone_s, 0.05 * alone_s);
  EXPECT_NEAR(flow->groups[1].started_s, alone_s, 0.02 * alone_s);
  EXPECT_NEAR(flow->groups[1].time_s, alone_s, 0.02 * alone_s);
}

TEST(FlowPrediction, TooManyTransfersAreRefusedUpFront) {
  const Topology topology = ring(4);
  PredictionRequest request = request_for(topology, "pipeline:1GiB,4096");
  request.channels = 64;
  request.progress = [](double, double) { FAIL() << "it was begun"; };
  const auto error_of = [&] { return std::string(predict_flow_level(topology, request).status().message()); };
  request.collective.operations = 10;  // 4096 batches * 3 stages * 64 channels * 10 operations
  EXPECT_THAT(error_of(), HasSubstr("more than 4000000 transfers"));
  request = request_for(topology, "all_to_all:1GiB");
  request.ranks.assign(2001, NodeIndex{0});
  EXPECT_THAT(error_of(), HasSubstr("expected fewer ranks or channels"));
  // The limit applies to the sum over groups.
  const std::string group = "[[group]]\nranks = [0, 1]\nworkload = \"pipeline:1GiB,4096\"\nrepeat = 10\n";
  request = request_for(topology, "all_reduce:1MiB");
  request.channels = 50;
  request.mix = *workload::parse_mix(group + group, "mix.toml");
  EXPECT_THAT(error_of(), HasSubstr("more than 4000000 transfers"));
}

TEST(FlowPrediction, WithoutACableARingIsALine) {
  const Topology topology = ring(4);
  const Topology line = without_cables(topology, {cable_between(topology, 0, 1)});
  EXPECT_EQ(line.cable_count(), 3U);
  const PredictionRequest request = request_for(topology, "all_reduce:64MiB");
  const absl::StatusOr<Prediction> before = predict_flow_level(topology, request);
  const absl::StatusOr<Prediction> after = predict_flow_level(line, request);
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_NEAR(after->time_s / before->time_s, 1, 0.05)
      << "what went to rank 1 goes the other way round, where nothing is";
}

TEST(SimulatedSize, CountsFlowsHopsAndMessages) {
  const Topology line = routing::sample_topology(4, routing::line_pairs(4));
  const absl::StatusOr<SimulatedSize> size = simulated_size(line, request_for(line, "sendrecv:64MiB,0-3"));
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(size->hops, 2U * 3) << "two channels of three cables";
  EXPECT_EQ(size->held_messages, (64ULL << 20) / (128 << 10) + 2);
}

TEST(SimulatedSize, DoesNotDependOnTheNumberOfOperations) {
  const Topology line = routing::sample_topology(4, routing::line_pairs(4));
  PredictionRequest request = request_for(line, "all_reduce:64MiB");
  const std::uint64_t once = simulated_size(line, request)->held_messages;
  request.collective.operations = 1000;
  EXPECT_EQ(simulated_size(line, request)->held_messages, once);
}

TEST(SimulatedSize, RefusesTooLargeSimulations) {
  const Topology topology = ring(4);
  const auto checked = [](const Topology& on, const PredictionRequest& request, std::uint64_t free_bytes,
                          PredictionLevel level = PredictionLevel::kChunk) {
    const absl::Status status = check_simulated_size(on, request, level, free_bytes);
    EXPECT_TRUE(status.ok() || absl::IsResourceExhausted(status)) << status;
    return std::string(status.message());
  };
  constexpr std::uint64_t kMuch = 64'000'000'000;
  const PredictionRequest small = request_for(topology, "all_reduce:1GiB");
  EXPECT_EQ(checked(topology, small, kMuch), "");
  EXPECT_THAT(
      checked(topology, small, 1'000'000),
      ::testing::MatchesRegex("too large to simulate chunk by chunk: [0-9]+ flows over [0-9]+ hops with [0-9]+ "
                              "messages in an operation would take about [0-9]+ MB of memory, and 1 MB are free "
                              "here; expected a smaller topology, fewer ranks or channels, less data, "
                              "--multipath off or --level flow"));
  EXPECT_THAT(checked(topology, request_for(topology, "all_reduce:1024GiB"), 2'000'000'000),
              AllOf(HasSubstr("messages"), HasSubstr("and 2.0 GB are free here; expected")));
  PredictionRequest many = request_for(topology, "all_to_all:1MiB");
  many.ranks.assign(1000, NodeIndex{0});
  EXPECT_THAT(checked(topology, many, kMuch),
              AllOf(HasSubstr("1998000 flows"), HasSubstr("and the limit is 8.0 GB; ")));
  many.ranks.assign(4096, NodeIndex{0});
  EXPECT_THAT(checked(topology, many, 1'000'000'000, PredictionLevel::kFlow),
              AllOf(HasSubstr("at flow level: 33546240 flows"), ::testing::EndsWith("fewer ranks or channels")));
}

// So a check takes seconds at most.
TEST(SimulatedSize, SamplesThePathsOfManyPairs) {
  const Topology mesh = *routing::generate_topology("mesh:200");
  const SimulatedSize size = *simulated_size(mesh, request_for(mesh, "all_to_all:1MiB"));
  EXPECT_EQ(size.flows, 2U * 200 * 199);
  EXPECT_EQ(size.hops, size.flows) << "each pair shares a cable, and messages are too small for a second path";
  const Topology row = *routing::generate_topology("line:101");
  const double hops = static_cast<double>(simulated_size(row, request_for(row, "all_to_all:1MiB"))->hops);
  EXPECT_NEAR(hops / (2.0 * 101 * 100), 34, 3) << "the mean distance in a row is (n + 1) / 3";
}

}  // namespace
}  // namespace cableway::sim
