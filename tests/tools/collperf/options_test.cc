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
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "NCCL_NET_PLUGIN", "CABLEWAY_LOG",
                             "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "SLURM_PROCID"}) {
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

  std::vector<Workload> workloads(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"--sizes", "8"});
    std::vector<Workload> list;
    for (const SizedWorkload& each : good(std::move(arguments)).work) list.push_back(each.workload);
    return list;
  }

  std::vector<std::uint64_t> sizes(std::vector<const char*> arguments) {
    std::vector<std::uint64_t> list;
    for (const SizedWorkload& each : good(std::move(arguments)).work) list.push_back(each.size);
    return list;
  }

  std::string output_;
};

TEST_F(OptionsTest, DefaultsAreThoseOfNccl) {
  const Options options = good({});
  EXPECT_THAT(options.work, ElementsAre(SizedWorkload{{Operation::kAllReduceRing}, 32U << 20}));
  EXPECT_EQ(options.warmup, 5);
  EXPECT_EQ(options.iterations, 20);
  EXPECT_EQ(options.check_iterations, 1);
  EXPECT_EQ(options.in_flight, 8);
  EXPECT_EQ(options.abi, 0);
  EXPECT_TRUE(checks(options));
  EXPECT_TRUE(options.recv_hint);
  EXPECT_FALSE(options.launched);
  EXPECT_EQ(step_bytes_of(options, {Operation::kAllReduceRing}), 512U * 1024);
  EXPECT_EQ(step_bytes_of(options, {Operation::kAllToAll}), 128U * 1024);
  EXPECT_EQ(step_bytes_of(options, {Operation::kPair, 0, 1}), 128U * 1024);
}

TEST_F(OptionsTest, TakesALineOfNcclTests) {
  const Options options = good({"-b", "8", "-e", "128M", "-f", "2", "-n", "10", "-w", "3", "-c", "0", "-T", "9"});
  ASSERT_EQ(options.work.size(), 25U);
  EXPECT_EQ(options.work.front().size, 8U);
  EXPECT_EQ(options.work.back().size, 128U << 20);
  EXPECT_EQ(options.iterations, 10);
  EXPECT_EQ(options.warmup, 3);
  EXPECT_FALSE(checks(options));
  EXPECT_EQ(options.timeout, std::chrono::seconds(9));
  const Options named =
      good({"--minbytes", "1MiB", "--maxbytes=1M", "--iters", "1", "--warmup_iters", "0", "--check", "4"});
  EXPECT_THAT(named.work, ElementsAre(SizedWorkload{{Operation::kAllReduceRing}, 1U << 20}));
  EXPECT_EQ(named.check_iterations, 4);
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
  const Placement& place = std::get<Options>(parsed).place;
  EXPECT_EQ(place.rank, 2);
  EXPECT_EQ(place.ranks, 3);
  EXPECT_EQ(place.host, "10.0.0.1");
  EXPECT_EQ(place.port, 1234);
}

TEST_F(OptionsTest, AllIsEveryOperationOfNcclTestsAndBothAllReduces) {
  EXPECT_THAT(
      workloads({"--workload", "all"}),
      ElementsAre(Workload{Operation::kAllReduceRing}, Workload{Operation::kAllReduceTree},
                  Workload{Operation::kAllGather}, Workload{Operation::kReduceScatter}, Workload{Operation::kBroadcast},
                  Workload{Operation::kReduce}, Workload{Operation::kAllToAll}, Workload{Operation::kOpposite}));
  EXPECT_EQ(good({"--workload", "all:4K"}).work.back(), (SizedWorkload{{Operation::kOpposite}, 4096}));
}

TEST_F(OptionsTest, WorkloadsAreThoseOfTheSimulator) {
  EXPECT_THAT(
      workloads({"--workload", "sendrecv", "sendrecv,neighbour", "sendrecv,0-2", "--workload", "pingpong,3-1",
                 "pipeline,8", "alltoall"}),
      ElementsAre(Workload{Operation::kOpposite}, Workload{Operation::kNeighbour}, Workload{Operation::kPair, 0, 2},
                  Workload{Operation::kPingPong, 3, 1}, Workload{.operation = Operation::kPipeline, .micro_batches = 8},
                  Workload{Operation::kAllToAll}));
}

TEST_F(OptionsTest, Sizes) {
  EXPECT_THAT(sizes({"--sizes", "0,8,1K,1M"}), ElementsAre(0U, 8U, 1024U, 1048576U));
  EXPECT_THAT(sizes({"-b", "8", "-e", "100", "-f", "3"}), ElementsAre(8U, 24U, 72U));
  EXPECT_THAT(sizes({"-b", "8", "-e", "3M"}), ElementsAre(8U, (1U << 20) + 8, (2U << 20) + 8));
  EXPECT_THAT(sizes({"-b", "0", "-e", "1MB", "-i", "500KB"}), ElementsAre(0U, 500000U, 1000000U));
  EXPECT_THAT(sizes({"--workload", "all_reduce:256M", "all_gather", "--sizes", "8,1KB"}),
              ElementsAre(256U << 20, 8U, 1000U));
  EXPECT_EQ(good({"--step-bytes", "4M"}).step_bytes, 4U << 20);
}

// A process that this one starts has to read the same from them.
TEST_F(OptionsTest, TheCommonArgumentsGiveTheSameOptions) {
  set_variable("NCCL_NET_PLUGIN", "a b");
  const Options options =
      good({"--workload", "all_gather",  "sendrecv:1K,0-1", "--sizes",   "8,64K", "-n",     "3", "-c",
            "2",          "--check-all", "--no-recv-hint",  "--idle-us", "7",     "--json", "-", "--progress",
            "-g",         "2",           "--ssh",           "other"});
  for (const std::string& word : options.arguments) {
    EXPECT_THAT(word, testing::Not(testing::ContainsRegex("rank|rendezvous|ngpus|ssh"))) << word;
  }
  unsetenv("NCCL_NET_PLUGIN");  // NOLINT(concurrency-mt-unsafe): one thread
  std::vector<const char*> words;
  for (const std::string& word : options.arguments) words.push_back(word.c_str());
  const Options again = good(std::move(words));
  EXPECT_EQ(again.plugin, "a b");
  EXPECT_EQ(agreement_of(again), agreement_of(options));
  EXPECT_EQ(again.work, options.work);
  EXPECT_EQ(again.idle, options.idle);
  EXPECT_EQ(again.json, "-");
  EXPECT_TRUE(again.check_all && again.progress);
  EXPECT_FALSE(again.recv_hint);
}

TEST_F(OptionsTest, Ipv6Rendezvous) {
  const std::variant<Options, int> parsed = parse({"--rank", "0", "--ranks", "2", "--rendezvous", "[fe80::1%eth0]:80"});
  ASSERT_TRUE(std::holds_alternative<Options>(parsed)) << output_;
  EXPECT_EQ(std::get<Options>(parsed).place.host, "fe80::1%eth0");
}

TEST_F(OptionsTest, InvalidOptionsAreNamed) {
  expect_refused({"--workload", "all_redcue"}, "unknown operation \"all_redcue\"");
  expect_refused({"--workload", "all_reduce,star"}, "all_reduce has no variant \"star\"");
  expect_refused({"--workload", "sendrecv,oposite"}, "sendrecv has no variant \"oposite\"");
  expect_refused({"--workload", "sendrecv,0-4"}, "expected ranks from 0 to 3");
  expect_refused({"--workload", "pingpong,opposite"}, "pingpong has no variant \"opposite\"");
  expect_refused({"--workload", "all:x"}, "\"x\" is not understood");
  expect_refused({"--sizes", "8,x"}, "--sizes: the size \"x\"");
  expect_refused({"--sizes", "-8"}, "--sizes");
  expect_refused({"--sizes", "100000000000G"}, "--sizes");
  expect_refused({"--sizes", "1G", "--step-bytes", "128"}, "larger --step-bytes");
  expect_refused({"-b", "9", "-e", "8"}, "--minbytes: 9B is more than --maxbytes, 8B");
  expect_refused({"-b", "64M"}, "--minbytes: 64MiB is more than --maxbytes, 32MiB");
  expect_refused({"-b", "0", "-f", "2"}, "--minbytes");
  expect_refused({"-b", "1", "-e", "1G", "-i", "1"}, "more than 10000 sizes");
  expect_refused({"-i", "0"}, "--stepbytes");
  expect_refused({"-i", "1M", "-f", "2"}, "--step");
  expect_refused({"--sizes", "8", "-e", "8"}, "--maxbytes");
  expect_refused({"--step-bytes", "100"}, "multiple of 128");
  expect_refused({"--in-flight", "33"}, "33");
  expect_refused({"--channels", "0"}, "--channels");
  expect_refused({"--abi", "7"}, "--abi");
  expect_refused({"-c", "-1"}, "--check");
  expect_refused({"--iters", "0", "--seconds", "1"}, "--iters");
  expect_refused({"--iters", "0", "--wall-seconds", "1"}, "--iters");
  expect_refused({"--seconds", "1", "--wall-seconds", "1"}, "--wall-seconds");
  expect_refused({"--hosts", "a,b"}, "--hosts conflicts with --rank");
  expect_refused({"--hosts", "a;b"}, "--hosts: \"a;b\" is not a host");
  expect_refused({"--hostfile", "/nonexistent"}, "--hostfile: cannot read /nonexistent");
  expect_refused({"--ssh", " "}, "--ssh");
  expect_refused({"--bogus"}, "--bogus");
}

TEST_F(OptionsTest, InvalidRanksAndRendezvousAreNamed) {
  const auto refused = [&](std::vector<const char*> arguments, const char* reason) {
    const std::variant<Options, int> parsed = parse(std::move(arguments));
    ASSERT_TRUE(std::holds_alternative<int>(parsed)) << reason;
    EXPECT_EQ(std::get<int>(parsed), 2);
    EXPECT_THAT(output_, HasSubstr(reason));
  };
  refused({}, "nothing says where the other ranks run; expected -g N");
  refused({"--rank", "0"}, "--rank is given without --ranks");
  refused({"--rank", "4", "--ranks", "4", "--rendezvous", "h:1"}, "4 is not from 0 to 3");
  refused({"--rank", "0", "--ranks", "1", "--rendezvous", "h:1"}, "--ranks");
  refused({"--rank", "0", "--ranks", "2"}, "--rendezvous");
  refused({"--rank", "0", "--ranks", "2", "--rendezvous", "host"}, "'host' is not HOST:PORT");
  refused({"--rank", "0", "--ranks", "2", "--rendezvous", "host:70000"}, "'host:70000' is not HOST:PORT");
  refused({"--rank", "0", "--ranks", "2", "--rendezvous", ":1"}, "':1' is not HOST:PORT");
  refused({"--rank", "0", "--ranks", "2", "--rendezvous", "fe80::1:9"}, "or [ADDRESS]:PORT");
}

TEST_F(OptionsTest, HelpSucceeds) {
  const std::variant<Options, int> parsed = parse({"--help"});
  ASSERT_TRUE(std::holds_alternative<int>(parsed));
  EXPECT_EQ(std::get<int>(parsed), 0);
  EXPECT_THAT(output_, HasSubstr("--rendezvous"));
}

}  // namespace
}  // namespace cableway::collperf
