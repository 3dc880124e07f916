// collperf as a whole: processes on this host, over the loopback plugin.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/tools/collperf/rank_processes.h"

namespace cableway::collperf {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// Seconds: long enough for processes to start and to connect on a busy machine.
constexpr char kTimeout[] = "10";
// Shorter, for tests that wait for the timeout.
constexpr char kAwaitedTimeout[] = "6";

void expect_all_ok(const std::vector<RankProcess>& ranks) {
  for (const RankProcess& rank : ranks) {
    EXPECT_EQ(rank.status, 0) << rank.out;
    // The loopback plugin warns of leaks and misuse.
    EXPECT_THAT(rank.out, Not(HasSubstr("WARN")));
  }
}

nlohmann::json json_of(const RankProcess& rank) {
  return nlohmann::json::parse(rank.out, nullptr, /*allow_exceptions=*/false);
}

class EveryAbi : public testing::TestWithParam<int> {};

TEST_P(EveryAbi, EveryOperationIsCorrect) {
  const auto ranks =
      run_ranks({.arguments = {"--abi", std::to_string(GetParam()), "--workload", "all", "sendrecv,neighbour",
                               "sendrecv,3-1", "pipeline,8", "pingpong,1-2", "--sizes", "0,8,1001,300001", "-w", "2",
                               "--iters", "4", "--step-bytes", "4K", "--json", "-"}});
  expect_all_ok(ranks);
  const nlohmann::json json = json_of(ranks[0]);
  ASSERT_TRUE(json.is_object()) << ranks[0].out;
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["plugin"]["abi"], GetParam());
  EXPECT_EQ(json["results"].size(), 12U * 4);
  for (const nlohmann::json& result : json["results"]) {
    EXPECT_EQ(result["wrong"], 0);
    EXPECT_EQ(result["iterations"], 4);
    EXPECT_GT(result["time_us"], 0.0);
    EXPECT_EQ(result["bytes_verified"] > 0, result["size_bytes"] > 0) << result;
  }
}

INSTANTIATE_TEST_SUITE_P(Abi, EveryAbi, testing::Range(8, 13), testing::PrintToStringParamName());

TEST(CollperfRunTest, CountsEveryByteItVerifies) {
  const auto ranks =
      run_ranks({.arguments = {"--workload", "all_reduce", "--sizes", "1M", "-n", "2", "-c", "3", "--json", "-"}});
  expect_all_ok(ranks);
  // On each of 4 ranks the last timed operation and 3 checked ones.
  EXPECT_EQ(json_of(ranks[0])["bytes_verified"], 4 * 4 * (1 << 20));
}

TEST(CollperfRunTest, ChecksEveryTimedOperationOnRequest) {
  const auto ranks = run_ranks(
      {.arguments = {"--workload", "all_gather:64K", "--iters", "5", "-c", "0", "--check-all", "--json", "-"}});
  expect_all_ok(ranks);
  EXPECT_EQ(json_of(ranks[0])["bytes_verified"], 4 * 5 * (64 << 10));
}

TEST(CollperfRunTest, RunsForTheRequestedSeconds) {
  const auto ranks = run_ranks(
      {.ranks = 2,
       .arguments = {"--workload", "sendrecv,0-1", "--sizes", "8", "--iters", "1", "--seconds", "0.5", "--json", "-"}});
  expect_all_ok(ranks);
  const nlohmann::json result = json_of(ranks[0])["results"][0];
  EXPECT_GE(result["seconds"], 0.5);
  EXPECT_GT(result["iterations"], 10);
  EXPECT_EQ(result["bytes_sent"][0], 8 * result["iterations"].get<std::uint64_t>());
  EXPECT_EQ(result["bytes_sent"][1], 0);
}

TEST(CollperfRunTest, RunsForTheRequestedTimeChecksIncluded) {
  const auto ranks = run_ranks({.ranks = 2,
                                .arguments = {"--workload", "sendrecv,0-1", "--sizes", "1M", "--iters", "1",
                                              "--check-all", "--wall-seconds", "2", "--json", "-"}});
  expect_all_ok(ranks);
  const nlohmann::json result = json_of(ranks[0])["results"][0];
  EXPECT_LT(result["seconds"], 2) << "measured: without the checks";
  EXPECT_GT(result["seconds"], 0);
  EXPECT_GT(result["iterations"], 1);
}

TEST(CollperfRunTest, MeasuresRoundTrips) {
  const auto ranks =
      run_ranks({.ranks = 3, .arguments = {"--workload", "pingpong:8,0-2", "--iters", "100", "--json", "-"}});
  expect_all_ok(ranks);
  const nlohmann::json result = json_of(ranks[0])["results"][0];
  EXPECT_EQ(result["op"], "pingpong");
  EXPECT_EQ(result["size_bytes"], 8);
  EXPECT_GT(result["p50_us"], 0.0);
  EXPECT_GE(result["p99_us"], result["p50_us"]);
  EXPECT_EQ(result["bytes_sent"], nlohmann::json({800, 0, 800}));
}

TEST(CollperfRunTest, ManyMessagesInFlightAndFew) {
  for (const char* in_flight : {"1", "32"}) {
    expect_all_ok(run_ranks({.arguments = {"--workload", "all", "--sizes", "200K", "--step-bytes", "1K", "--in-flight",
                                           in_flight, "--channels", "4", "--iters", "2"}}));
  }
}

TEST(CollperfRunTest, OneWrongBitIsFound) {
  const auto ranks = run_ranks({.arguments = {"--workload", "all_gather", "--sizes", "1M", "-w", "0", "--iters", "1",
                                              "-c", "0", "--check-all", "--json", "-"},
                                .environment = {"LOOPBACK_CORRUPT=300000"},
                                .fault_rank = 2});
  const nlohmann::json json = json_of({0, ranks[0].out.substr(ranks[0].out.find('{'))});
  // Rank 2 received the wrong byte and forwarded it.
  EXPECT_THAT(json["wrong"].get<int>(), AnyOf(1, 2, 3));
  EXPECT_EQ(json["ok"], false);
  for (const RankProcess& rank : ranks) EXPECT_EQ(rank.status, 1) << rank.out;
  EXPECT_THAT(ranks[2].out, HasSubstr("1 bytes wrong, the first at "));
}

TEST(CollperfRunTest, WrongBytesOfASumAreFound) {
  const auto ranks =
      run_ranks({.arguments = {"--workload", "all_reduce:256K,tree", "-w", "0", "--iters", "0", "--check", "2"},
                 .environment = {"LOOPBACK_CORRUPT=500"},
                 .fault_rank = 0});
  EXPECT_THAT(ranks[0].out, HasSubstr("bytes wrong"));
  EXPECT_EQ(ranks[0].status, 1);
}

TEST(CollperfRunTest, AStallIsReportedWithItsConnection) {
  const auto ranks = run_ranks(
      {.ranks = 2,
       .arguments = {"--workload", "sendrecv", "--sizes", "1M", "--timeout", kAwaitedTimeout, "--peer-grace", "5"},
       .environment = {"LOOPBACK_STALL=3"},
       .fault_rank = 1});
  EXPECT_EQ(ranks[0].status, 3);
  EXPECT_EQ(ranks[1].status, 3);
  EXPECT_THAT(ranks[1].out, HasSubstr("no message moved for 6 s"));
  EXPECT_THAT(ranks[1].out, HasSubstr("to rank 0 (channel 0): "));
  EXPECT_THAT(ranks[0].out, HasSubstr("failed"));
}

TEST(CollperfRunTest, APluginErrorIsReportedWithCallPeerAndWarning) {
  const auto ranks = run_ranks({.arguments = {"--workload", "all_reduce", "--sizes", "1M", "--peer-grace", "5"},
                                .environment = {"LOOPBACK_FAIL=5"},
                                .fault_rank = 1});
  EXPECT_THAT(ranks[1].out, HasSubstr("isend to rank 2 (channel "));
  EXPECT_THAT(ranks[1].out, HasSubstr("failed: remote error (6); the plugin's last warning: the cable is on fire"));
  for (const RankProcess& rank : ranks) EXPECT_EQ(rank.status, 3) << rank.out;
}

TEST(CollperfRunTest, AKilledRankEndsTheOthers) {
  const auto ranks = run_ranks({.arguments = {"--workload", "all_reduce", "--sizes", "1M", "--peer-grace", "5"},
                                .environment = {"LOOPBACK_DIE=7"},
                                .fault_rank = 2});
  EXPECT_EQ(ranks[2].status, 128 + 9);
  for (int rank : {0, 1, 3}) {
    EXPECT_EQ(ranks[static_cast<std::size_t>(rank)].status, 3) << ranks[static_cast<std::size_t>(rank)].out;
  }
  // Rank 3 receives from rank 2: the plugin itself detects it.
  EXPECT_THAT(ranks[3].out, HasSubstr("from rank 2 (channel "));
}

TEST(CollperfRunTest, NamesThePeerThatIsNotConnected) {
  const auto ranks =
      run_ranks({.arguments = {"--workload", "all_reduce:1M", "--timeout", kAwaitedTimeout, "--peer-grace", "5"},
                 .environment = {"LOOPBACK_NO_ACCEPT=1"},
                 .fault_rank = 3});
  EXPECT_EQ(ranks[3].status, 3);
  EXPECT_THAT(ranks[3].out, HasSubstr("connections missing after 6 s: from rank 2 (channel 0)"));
}

TEST(CollperfRunTest, APluginThatBlocksIsNamed) {
  const auto ranks =
      run_ranks({.ranks = 2,
                 .arguments = {"--workload", "sendrecv:1M", "--timeout", kAwaitedTimeout, "--peer-grace", "5"},
                 .environment = {"LOOPBACK_BLOCK=1"},
                 .fault_rank = 1});
  EXPECT_EQ(ranks[1].status, 3);
  EXPECT_THAT(ranks[1].out, HasSubstr("the plugin's test has not returned for 6 s"));
  EXPECT_EQ(ranks[0].status, 3);
}

TEST(CollperfRunTest, AHintLeftInTheRequestIsAnError) {
  const std::vector<std::string> environment = {"LOOPBACK_KEEP_HINT=1"};
  const auto ranks = run_ranks({.ranks = 2,
                                .arguments = {"--workload", "sendrecv:1M", "--timeout", kTimeout, "--peer-grace", "0"},
                                .environment = environment,
                                .fault_rank = 0});
  EXPECT_EQ(ranks[0].status, 3);
  EXPECT_THAT(ranks[0].out, HasSubstr("left NCCL's hint in *request"));
}

TEST(CollperfRunTest, NamesTheMissingRank) {
  const auto ranks = run_ranks({.ranks = 3, .arguments = {"--timeout", kAwaitedTimeout}, .missing_rank = 1});
  EXPECT_EQ(ranks[0].status, 3);
  EXPECT_THAT(ranks[0].out, HasSubstr("rank 1 of 3 did not join"));
  EXPECT_EQ(ranks[2].status, 3);
  EXPECT_THAT(ranks[2].out, HasSubstr("rank 1 of 3 did not join"));
}

TEST(CollperfRunTest, ReportsInvalidPlugins) {
  const auto missing = run_ranks({.ranks = 2, .plugin = "no-such-plugin"});
  EXPECT_EQ(missing[0].status, 3);
  EXPECT_THAT(missing[0].out, HasSubstr("libnccl-net-no-such-plugin.so"));
  const auto no_plugin = run_ranks({.ranks = 2, .plugin = "libc.so.6"});
  EXPECT_EQ(no_plugin[0].status, 3);
  EXPECT_THAT(no_plugin[0].out, HasSubstr("exports none of ncclNetPlugin_v8"));
  const auto no_device = run_ranks({.ranks = 2, .arguments = {"--device", "5"}});
  EXPECT_EQ(no_device[0].status, 3);
  EXPECT_THAT(no_device[0].out, HasSubstr("there is no device 5"));
}

}  // namespace
}  // namespace cableway::collperf
