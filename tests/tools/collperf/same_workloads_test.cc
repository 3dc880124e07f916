// collperf and `cableway sim` read the same workloads, and mean the same by them.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "routing/shapes/topology_generator.h"
#include "sim/prediction/prediction.h"
#include "sim/workload/workload_text.h"
#include "tests/tools/collperf/rank_processes.h"
#include "tools/cableway/sim/sim_job.h"
#include "tools/cableway/sim/sim_options.h"
#include "tools/collperf/options.h"

namespace cableway::collperf {
namespace {

using testing::HasSubstr;

constexpr int kRanks = 4;

// OK, or why collperf refuses it.
absl::StatusOr<SizedWorkload> read_by_collperf(const std::string& text) {
  const char* const arguments[] = {"collperf",     "--rank", "0",          "--ranks",   "4",
                                   "--rendezvous", "h:1",    "--workload", text.c_str()};
  testing::internal::CaptureStderr();
  const std::variant<Options, int> parsed = parse_options(std::size(arguments), arguments);
  const std::string error = testing::internal::GetCapturedStderr();
  if (const Options* options = std::get_if<Options>(&parsed)) return options->work.front();
  return absl::InvalidArgumentError(error);
}

absl::StatusOr<SizedWorkload> read_by_simulator(const std::string& text) {
  cli::SimOptions options;
  options.workload = text;
  const absl::StatusOr<cli::SimPlan> plan = cli::make_plan(options);
  if (!plan.ok()) return plan.status();
  sim::PredictionRequest request;
  request.ranks.resize(kRanks);
  request.workload = plan->workload->workload;
  request.size = plan->workload->size;
  if (absl::Status status = cli::check_fit(request); !status.ok()) return status;
  return *plan->workload;
}

TEST(SameWorkloadsTest, TextsThatBothRead) {
  std::vector<std::string> texts;
  for (const std::string_view name : workload::operation_names()) {
    for (const char* size : {"8", "1M", "1MiB", "1m", "64K", "1KB", "3MB", "2G", "1GiB", "7B"}) {
      texts.push_back(std::string(name) + ":" + size);
    }
  }
  for (const char* text : {"all_reduce:1M,ring", "all_reduce:1M,tree", "alltoall:1M", "sendrecv:1M,opposite",
                           "sendrecv:1M,neighbour", "sendrecv:1M,3-0", "pingpong:8,2-1", "pipeline:1M,8"}) {
    texts.emplace_back(text);
  }
  for (const std::string& text : texts) {
    const absl::StatusOr<SizedWorkload> measured = read_by_collperf(text);
    const absl::StatusOr<SizedWorkload> simulated = read_by_simulator(text);
    ASSERT_TRUE(measured.ok()) << text << ": " << measured.status();
    ASSERT_TRUE(simulated.ok()) << text << ": " << simulated.status();
    EXPECT_EQ(*measured, *simulated) << text;
  }
}

TEST(SameWorkloadsTest, TextsThatBothRefuseForTheSameReason) {
  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {"all_redcue:1M", "unknown operation \"all_redcue\""},
           {"all_reduce:1M,star", "all_reduce has no variant \"star\"; expected ring or tree"},
           {"all_reduce:", "the size \"\" is not understood"},
           {"all_reduce:1.5G", "the size \"1.5G\" is not understood"},
           {"all_reduce:1mb", "the size \"1mb\" is not understood"},
           {"all_reduce:0", "the size is 0"},
           {"all_reduce:2048G", "too large"},
           {"all_gather:1M,ring", "all_gather has no variant"},
           {"sendrecv:1M,", "no variant after the comma"},
           {"sendrecv:1M,1-1", "not a pair of ranks"},
           {"sendrecv:1M,0-4", "names rank 4, and there are 4"},
           {"pingpong:8,neighbour", "pingpong has no variant"},
           {"pipeline:1M,0", "pipeline has no variant \"0\""}}) {
    EXPECT_THAT(std::string(read_by_collperf(text).status().message()), HasSubstr(reason)) << text;
    EXPECT_THAT(std::string(read_by_simulator(text).status().message()), HasSubstr(reason)) << text;
  }
}

// collperf has sizes and lists of operations from elsewhere.
TEST(SameWorkloadsTest, TextsThatOnlyCollperfReads) {
  for (const auto& [text, reason] :
       std::vector<std::pair<std::string, std::string>>{{"all_reduce", "it has no size; expected OPERATION:SIZE"},
                                                        {"sendrecv,0-2", "it has no size"},
                                                        {"all:1M", "unknown operation \"all\""}}) {
    EXPECT_TRUE(read_by_collperf(text).ok()) << text;
    EXPECT_THAT(std::string(read_by_simulator(text).status().message()), HasSubstr(reason)) << text;
  }
}

sim::Prediction predicted(const SizedWorkload& sized, std::uint64_t operations) {
  const absl::StatusOr<routing::Topology> line = routing::generate_topology("line:2@8Gbit/s");
  sim::PredictionRequest request;
  request.workload = sized.workload;
  request.size = sized.size;
  request.collective.operations = operations;
  request.ranks = {routing::NodeIndex{0}, routing::NodeIndex{1}};
  request.circuits.wire.packet_overhead = 0;
  const absl::StatusOr<sim::Prediction> prediction = sim::predict(*line, request);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return prediction.ok() ? *prediction : sim::Prediction{};
}

TEST(SameWorkloadsTest, APingPongHasTheSameMessages) {
  for (const char* text : {"pingpong:8", "pingpong:1M,1-0"}) {
    const auto ranks = run_ranks({.ranks = 2, .arguments = {"--workload", text, "-n", "3", "--json", "-"}});
    ASSERT_EQ(ranks[0].status, 0) << ranks[0].out;
    const nlohmann::json result = nlohmann::json::parse(ranks[0].out)["results"][0];
    const SizedWorkload sized = *workload::parse_workload(text);
    const std::uint64_t each_way = 3 * std::max<std::uint64_t>(1, sized.size / (128U << 10));
    EXPECT_EQ(result["messages_sent"], nlohmann::json({each_way, each_way})) << text;
    EXPECT_EQ(predicted(sized, 3).messages, 2 * each_way) << text;
  }
}

// 16 MiB over a cable of 1 GB/s: 16.8 ms one way, which is half of the round trip.
TEST(SameWorkloadsTest, ThePredictedTimeOfAPingPongIsThatOfOneWay) {
  const SizedWorkload ping_pong = *workload::parse_workload("pingpong:16M");
  for (const std::uint64_t operations : {1U, 4U}) {
    const sim::Prediction prediction = predicted(ping_pong, operations);
    EXPECT_NEAR(prediction.time_s, 0.0168, 0.0005);
    EXPECT_NEAR(prediction.algbw_GBps, 1, 0.03);
    EXPECT_LE(prediction.algbw_GBps, 1);
    EXPECT_NEAR(prediction.operation_s.front(), 0.0168, 0.0005);
  }
}

}  // namespace
}  // namespace cableway::collperf
