#include "sim/workload/workload_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cableway::workload {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t kMiB = 1 << 20;

SizedWorkload good(const std::string& text) {
  const absl::StatusOr<SizedWorkload> parsed = parse_workload(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : SizedWorkload{};
}

void expect_refused(const std::string& text, const std::string& what, const std::string& expected) {
  const absl::StatusOr<SizedWorkload> parsed = parse_workload(text);
  ASSERT_FALSE(parsed.ok()) << text;
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(parsed.status().message());
  EXPECT_THAT(message, StartsWith("workload \""));
  EXPECT_THAT(message, HasSubstr(what));
  EXPECT_THAT(message, HasSubstr("; expected " + expected));
}

TEST(WorkloadTextTest, EveryOperation) {
  EXPECT_EQ(good("all_reduce:256MiB"), (SizedWorkload{{Operation::kAllReduceRing}, 256 * kMiB}));
  EXPECT_EQ(good("all_reduce:256MiB,ring"), (SizedWorkload{{Operation::kAllReduceRing}, 256 * kMiB}));
  EXPECT_EQ(good("all_reduce:256MiB,tree"), (SizedWorkload{{Operation::kAllReduceTree}, 256 * kMiB}));
  EXPECT_EQ(good("all_gather:8"), (SizedWorkload{{Operation::kAllGather}, 8}));
  EXPECT_EQ(good("reduce_scatter:8B"), (SizedWorkload{{Operation::kReduceScatter}, 8}));
  EXPECT_EQ(good("broadcast:1KB"), (SizedWorkload{{Operation::kBroadcast}, 1000}));
  EXPECT_EQ(good("reduce:1KiB"), (SizedWorkload{{Operation::kReduce}, 1024}));
  EXPECT_EQ(good("all_to_all:1GiB"), (SizedWorkload{{Operation::kAllToAll}, 1024 * kMiB}));
  EXPECT_EQ(good("sendrecv:64MB"), (SizedWorkload{{Operation::kOpposite}, 64'000'000}));
  EXPECT_EQ(good("sendrecv:64MiB,opposite"), (SizedWorkload{{Operation::kOpposite}, 64 * kMiB}));
  EXPECT_EQ(good("sendrecv:64MiB,neighbour"), (SizedWorkload{{Operation::kNeighbour}, 64 * kMiB}));
  EXPECT_EQ(good("sendrecv:1GB,0-12"), (SizedWorkload{{Operation::kPair, 0, 12}, 1'000'000'000}));
  EXPECT_EQ(good("pingpong:8"), (SizedWorkload{{Operation::kPingPong, 0, 1}, 8}));
  EXPECT_EQ(good("pingpong:8,3-2"), (SizedWorkload{{Operation::kPingPong, 3, 2}, 8}));
  EXPECT_EQ(good("pipeline:64MiB,8"),
            (SizedWorkload{{.operation = Operation::kPipeline, .micro_batches = 8}, 64 * kMiB}));
  EXPECT_EQ(good("pipeline:64MiB"),
            (SizedWorkload{{.operation = Operation::kPipeline, .micro_batches = 1}, 64 * kMiB}));
}

TEST(WorkloadTextTest, SizesOfNcclTestsArePowersOf1024) {
  EXPECT_EQ(good("all_reduce:1K").size, 1024U);
  EXPECT_EQ(good("all_reduce:1m").size, kMiB);
  EXPECT_EQ(good("all_reduce:256M,tree"), good("all_reduce:256MiB,tree"));
  EXPECT_EQ(good("all_reduce:2G").size, 2048 * kMiB);
  EXPECT_EQ(good("all_reduce:1MB").size, 1'000'000U);
  EXPECT_EQ(good("alltoall:8"), good("all_to_all:8"));
}

TEST(WorkloadTextTest, APatternNeedsNoSize) {
  EXPECT_EQ(*parse_pattern("all_reduce"), (WorkloadPattern{{Operation::kAllReduceRing}, std::nullopt}));
  EXPECT_EQ(*parse_pattern("sendrecv,0-2"), (WorkloadPattern{{Operation::kPair, 0, 2}, std::nullopt}));
  EXPECT_EQ(*parse_pattern("sendrecv:8,0-2"), (WorkloadPattern{{Operation::kPair, 0, 2}, 8}));
  EXPECT_EQ(std::string(parse_pattern("sendrecv,").status().message()),
            "workload \"sendrecv,\": no variant after the comma; expected OPERATION:SIZE,VARIANT, or no comma");
  for (const char* bad : {"", ",", "all_reduce:", "all_reduce:,tree", "sendrecv,0:2"}) {
    EXPECT_FALSE(parse_pattern(bad).ok()) << bad;
  }
  EXPECT_EQ(pattern_text({Operation::kPair, 0, 2}), "sendrecv,0-2");
  EXPECT_EQ(pattern_text({Operation::kAllReduceRing}), "all_reduce");
}

TEST(WorkloadTextTest, EveryNamedOperationIsKnown) {
  for (const std::string_view name : operation_names()) good(std::string(name) + ":8");
}

TEST(WorkloadTextTest, ReportsErrors) {
  expect_refused("", "it has no size", "OPERATION:SIZE");
  expect_refused("all_reduce", "it has no size", "OPERATION:SIZE");
  expect_refused("all_redcue:8", "unknown operation \"all_redcue\"", "one of all_reduce, all_gather");
  expect_refused("sendrecv,8", "it has no size", "OPERATION:SIZE");
  expect_refused("sendrecv,0:8", "sendrecv has no variant \"0:8\"", "opposite");
  expect_refused(":8", "unknown operation \"\"", "one of");
  expect_refused("all_reduce:", "the size \"\" is not understood", "a whole number of bytes");
  expect_refused("all_reduce:8 MiB", "the size \"8 MiB\" is not understood", "a whole number");
  expect_refused("all_reduce:8mib", "the size \"8mib\"", "a whole number");
  expect_refused("all_reduce:-8", "the size \"-8\"", "a whole number");
  expect_refused("all_reduce:1.5GiB", "the size \"1.5GiB\"", "a whole number");
  expect_refused("all_reduce:MiB", "the size \"MiB\"", "a whole number");
  expect_refused("all_reduce:0", "the size is 0", "1 byte or more");
  expect_refused("all_reduce:1025GiB", "too large", "at most 1024GiB");
  expect_refused("all_reduce:99999999999999999999", "too large", "at most 1024GiB");
  expect_refused("all_reduce:8,star", "all_reduce has no variant \"star\"", "ring or tree");
  expect_refused("all_reduce:8,", "no variant after the comma", "OPERATION:SIZE,VARIANT");
  expect_refused("broadcast:8,1", "broadcast has no variant \"1\"", "broadcast:SIZE alone");
  expect_refused("sendrecv:8,0", "sendrecv has no variant \"0\"", "opposite, neighbour, or two ranks");
  expect_refused("sendrecv:8,0-", "sendrecv has no variant \"0-\"", "opposite, neighbour, or two ranks");
  expect_refused("sendrecv:8,2-2", "\"2-2\" is not a pair", "two different ranks from 0 to 4095");
  expect_refused("sendrecv:8,0-4096", "\"0-4096\" is not a pair", "two different ranks from 0 to 4095");
  expect_refused("pingpong:8,opposite", "pingpong has no variant \"opposite\"", "two ranks");
  expect_refused("pipeline:8,0", "pipeline has no variant \"0\"", "how many micro-batches, 1 to 4096");
  expect_refused("pipeline:8,4097", "pipeline has no variant \"4097\"", "how many micro-batches");
  expect_refused("pipeline:8,8,8", "pipeline has no variant \"8,8\"", "how many micro-batches");
}

TEST(WorkloadTextTest, MessagesEscapeAndBoundTheText) {
  const absl::StatusOr<SizedWorkload> parsed = parse_workload(std::string(5000, '\n'));
  ASSERT_FALSE(parsed.ok());
  EXPECT_LT(parsed.status().message().size(), 600U);
  EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("\\n"));
  EXPECT_THAT(std::string(parsed.status().message()), testing::Not(HasSubstr("\n")));
}

TEST(WorkloadTextTest, RoundTrips) {
  for (const char* text :
       {"all_reduce:256MiB", "all_reduce:1GiB,tree", "all_gather:3KB", "reduce_scatter:1001B", "broadcast:1GB",
        "reduce:4KiB", "all_to_all:1024GiB", "sendrecv:7B", "sendrecv:64MB,neighbour", "sendrecv:64MiB,3-0",
        "pingpong:8B,0-1", "pipeline:64MiB,8", "pipeline:64MiB,1"}) {
    EXPECT_EQ(workload_text(good(text)), text);
  }
}

TEST(WorkloadTextTest, SizesUseTheLargestUnitThatDividesThem) {
  EXPECT_EQ(size_text(0), "0B");
  EXPECT_EQ(size_text(1), "1B");
  EXPECT_EQ(size_text(1000), "1KB");
  EXPECT_EQ(size_text(1024), "1KiB");
  EXPECT_EQ(size_text(1536), "1536B");
  EXPECT_EQ(size_text(1'024'000), "1000KiB");
  EXPECT_EQ(size_text(3'000'000), "3MB");
  EXPECT_EQ(size_text(3ULL << 30), "3GiB");
}

TEST(WorkloadTextTest, ChecksThatTheRanksExist) {
  EXPECT_TRUE(check_ranks({Operation::kAllToAll}, 2).ok());
  EXPECT_TRUE(check_ranks({Operation::kAllToAll}, kMaxRanks).ok());
  EXPECT_THAT(std::string(check_ranks({Operation::kAllToAll}, 1).message()), "there are 1 ranks; expected 2 to 4096");
  EXPECT_FALSE(check_ranks({Operation::kAllToAll}, kMaxRanks + 1).ok());
  EXPECT_TRUE(check_ranks({Operation::kPair, 0, 3}, 4).ok());
  EXPECT_THAT(std::string(check_ranks({Operation::kPair, 0, 4}, 4).message()),
              "sendrecv 0-4 names rank 4, and there are 4; expected ranks from 0 to 3");
  EXPECT_THAT(std::string(check_ranks({Operation::kPingPong, 5, 0}, 4).message()),
              EndsWith("expected ranks from 0 to 3"));
}

}  // namespace
}  // namespace cableway::workload
