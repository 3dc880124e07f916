#include "tools/collperf/options.h"

#include <cstdlib>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cableway::collperf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Clears the environment variables that replace options.
class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "NCCL_NET_PLUGIN", "CABLEWAY_LOG"}) {
      unsetenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
    }
  }

  static void set_variable(const char* name, const char* value) {
    setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe): one thread
  }

  std::variant<Options, int> parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "collperf");
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    std::variant<Options, int> parsed = parse_options(static_cast<int>(arguments.size()), arguments.data());
    output_ = testing::internal::GetCapturedStderr() + testing::internal::GetCapturedStdout();
    return parsed;
  }

  // Parses the arguments after the required options.
  std::variant<Options, int> parse_more(std::vector<const char*> arguments) {
    std::vector<const char*> all = {"--rank", "1", "--ranks", "4", "--rendezvous", "host:29500"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return parse(std::move(all));
  }

  Options good(std::vector<const char*> arguments) {
    const std::variant<Options, int> parsed = parse_more(std::move(arguments));
    EXPECT_TRUE(std::holds_alternative<Options>(parsed)) << output_;
    return std::holds_alternative<Options>(parsed) ? std::get<Options>(parsed) : Options();
  }

  void expect_refused(std::vector<const char*> arguments, const char* reason) {
    const std::variant<Options, int> parsed = parse_more(std::move(arguments));
    ASSERT_TRUE(std::holds_alternative<int>(parsed)) << reason;
    EXPECT_EQ(std::get<int>(parsed), 2);
    EXPECT_THAT(output_, HasSubstr(reason));
  }

  std::string output_;
};

TEST_F(OptionsTest, DefaultsAreThoseOfNccl) {
  const Options options = good({});
  EXPECT_THAT(options.workloads, ElementsAre(Workload{Operation::kAllReduceRing}));
  EXPECT_EQ(options.in_flight, 8);
  EXPECT_EQ(options.abi, 0);
  EXPECT_TRUE(options.check);
  EXPECT_TRUE(options.recv_hint);
  EXPECT_EQ(step_bytes_of(options, {Operation::kAllReduceRing}), 512U * 1024);
  EXPECT_EQ(step_bytes_of(options, {Operation::kAllToAll}), 128U * 1024);
  EXPECT_EQ(step_bytes_of(options, {Operation::kPair, 0, 1}), 128U * 1024);
}

TEST_F(OptionsTest, ShowsThePluginsLinesAsFarAsTheLogWould) {
  EXPECT_FALSE(good({}).verbose);
  for (const auto& [level, verbose, trace] : {std::tuple("debug", true, true), std::tuple("info", true, false),
                                              std::tuple("warning", false, false), std::tuple("trace", false, false)}) {
    set_variable("CABLEWAY_LOG", level);
    EXPECT_EQ(good({}).verbose, verbose) << level;
    EXPECT_EQ(good({}).trace, trace) << level;
  }
}

TEST_F(OptionsTest, ReadsRankAndRendezvousFromTheEnvironment) {
  set_variable("RANK", "2");
  set_variable("WORLD_SIZE", "3");
  set_variable("MASTER_ADDR", "10.0.0.1");
  set_variable("MASTER_PORT", "1234");
  const std::variant<Options, int> parsed = parse({});
  ASSERT_TRUE(std::holds_alternative<Options>(parsed)) << output_;
  const Options& options = std::get<Options>(parsed);
  EXPECT_EQ(options.rank, 2);
  EXPECT_EQ(options.ranks, 3);
  EXPECT_EQ(options.host, "10.0.0.1");
  EXPECT_EQ(options.port, 1234);
}

TEST_F(OptionsTest, AllIsEveryOperationWithBothAlgorithms) {
  EXPECT_THAT(
      good({"--op", "all"}).workloads,
      ElementsAre(Workload{Operation::kAllReduceRing}, Workload{Operation::kAllReduceTree},
                  Workload{Operation::kAllGather}, Workload{Operation::kReduceScatter}, Workload{Operation::kBroadcast},
                  Workload{Operation::kReduce}, Workload{Operation::kAllToAll}, Workload{Operation::kOpposite}));
}

TEST_F(OptionsTest, PatternsOfSendRecv) {
  EXPECT_THAT(good({"--op", "sendrecv", "--pattern", "opposite,neighbour,pair 0 2,pair:3:1"}).workloads,
              ElementsAre(Workload{Operation::kOpposite}, Workload{Operation::kNeighbour},
                          Workload{Operation::kPair, 0, 2}, Workload{Operation::kPair, 3, 1}));
}

TEST_F(OptionsTest, ThePipelineHasItsMicroBatches) {
  const auto batches = [&](std::vector<const char*> arguments) { return good(std::move(arguments)).workloads; };
  EXPECT_THAT(batches({"--op", "pipeline"}),
              ElementsAre(Workload{.operation = Operation::kPipeline, .micro_batches = 8}));
  EXPECT_THAT(batches({"--op", "pipeline", "--micro-batches", "3"}),
              ElementsAre(Workload{.operation = Operation::kPipeline, .micro_batches = 3}));
}

TEST_F(OptionsTest, LatencyIsARoundTripOfEightBytes) {
  const Options options = good({"--latency", "--pattern", "pair 0 2"});
  EXPECT_THAT(options.workloads, ElementsAre(Workload{Operation::kPingPong, 0, 2}));
  EXPECT_THAT(options.sizes, ElementsAre(8U));
}

TEST_F(OptionsTest, Sizes) {
  EXPECT_THAT(good({"--sizes", "0,8,1K,1M"}).sizes, ElementsAre(0U, 8U, 1024U, 1048576U));
  EXPECT_THAT(good({"--min", "8", "--max", "100", "--factor", "3"}).sizes, ElementsAre(8U, 24U, 72U));
  EXPECT_EQ(good({"--step-bytes", "4M"}).step_bytes, 4U << 20);
}

TEST_F(OptionsTest, Ipv6Rendezvous) {
  const std::variant<Options, int> parsed = parse({"--rank", "0", "--ranks", "2", "--rendezvous", "[fe80::1%eth0]:80"});
  ASSERT_TRUE(std::holds_alternative<Options>(parsed)) << output_;
  EXPECT_EQ(std::get<Options>(parsed).host, "fe80::1%eth0");
}

TEST_F(OptionsTest, InvalidOptionsAreNamed) {
  expect_refused({"--op", "all_redcue"}, "all_redcue");
  expect_refused({"--algo", "star"}, "star");
  expect_refused({"--pattern", "oposite", "--op", "sendrecv"}, "'oposite' is none of");
  expect_refused({"--pattern", "pair 0", "--op", "sendrecv"}, "'pair 0' is none of");
  expect_refused({"--pattern", "pair 0 4", "--op", "sendrecv"}, "two different ranks from 0 to 3");
  expect_refused({"--pattern", "pair 2 2", "--op", "sendrecv"}, "two different ranks");
  expect_refused({"--latency", "--pattern", "opposite"}, "'opposite' is none of");
  expect_refused({"--sizes", "8,x"}, "x");
  expect_refused({"--sizes", "-8"}, "--sizes");
  expect_refused({"--sizes", "100000000000G"}, "--sizes");
  expect_refused({"--sizes", "1G", "--step-bytes", "128"}, "larger --step-bytes");
  expect_refused({"--min", "9", "--max", "8"}, "--min");
  expect_refused({"--sizes", "8", "--max", "8"}, "--max");
  expect_refused({"--step-bytes", "100"}, "multiple of 128");
  expect_refused({"--in-flight", "33"}, "33");
  expect_refused({"--channels", "0"}, "--channels");
  expect_refused({"--micro-batches", "0"}, "--micro-batches");
  expect_refused({"--abi", "7"}, "--abi");
  expect_refused({"--no-check", "--check-all"}, "--no-check");
  expect_refused({"--iters", "0", "--seconds", "1"}, "--iters");
  expect_refused({"--iters", "0", "--wall-seconds", "1"}, "--iters");
  expect_refused({"--seconds", "1", "--wall-seconds", "1"}, "--wall-seconds");
  expect_refused({"--bogus"}, "--bogus");
}

TEST_F(OptionsTest, InvalidRanksAndRendezvousAreNamed) {
  const auto refused = [&](std::vector<const char*> arguments, const char* reason) {
    const std::variant<Options, int> parsed = parse(std::move(arguments));
    ASSERT_TRUE(std::holds_alternative<int>(parsed)) << reason;
    EXPECT_EQ(std::get<int>(parsed), 2);
    EXPECT_THAT(output_, HasSubstr(reason));
  };
  refused({}, "--rank");
  refused({"--rank", "0"}, "--ranks");
  refused({"--rank", "4", "--ranks", "4", "--rendezvous", "h:1"}, "4 is not from 0 to 3");
  refused({"--rank", "0", "--ranks", "1", "--rendezvous", "h:1"}, "--ranks");
  refused({"--rank", "0", "--ranks", "2"}, "--rendezvous");
  refused({"--rank", "0", "--ranks", "2", "--rendezvous", "host"}, "'host' is not HOST:PORT");
  refused({"--rank", "0", "--ranks", "2", "--rendezvous", "host:70000"}, "'host:70000' is not HOST:PORT");
  refused({"--rank", "0", "--ranks", "2", "--rendezvous", ":1"}, "names no host");
}

TEST_F(OptionsTest, HelpSucceeds) {
  const std::variant<Options, int> parsed = parse({"--help"});
  ASSERT_TRUE(std::holds_alternative<int>(parsed));
  EXPECT_EQ(std::get<int>(parsed), 0);
  EXPECT_THAT(output_, HasSubstr("--rendezvous"));
}

}  // namespace
}  // namespace cableway::collperf
