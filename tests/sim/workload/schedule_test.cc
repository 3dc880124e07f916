#include "sim/workload/schedule.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/workload/schedule_simulator.h"
#include "tests/slow_build.h"

namespace cableway::workload {
namespace {

using Bytes = ScheduleSimulator::Bytes;

constexpr std::uint8_t kUntouched = 0xA5;  // the simulator's fill value of outputs
constexpr std::uint64_t kStepBytes = std::uint64_t{512} * 1024;

struct Case {
  Workload workload;
  int ranks;
  std::uint64_t size;
  int channels;
  std::uint64_t step_bytes;
  int in_flight;

  std::string name() const {
    return absl::StrCat(operation_name(workload), " ", variant_name(workload), " ranks ", ranks, " size ", size,
                        " channels ", channels, " step ", step_bytes, " in flight ", in_flight);
  }
};

std::vector<Workload> all_workloads(int ranks) {
  return {{Operation::kAllReduceRing},
          {Operation::kAllReduceTree},
          {Operation::kAllGather},
          {Operation::kReduceScatter},
          {Operation::kBroadcast},
          {Operation::kAllToAll},
          {Operation::kOpposite},
          {Operation::kNeighbour},
          {Operation::kPair, ranks - 1, 0},
          {Operation::kPingPong, 0, ranks - 1},
          {Operation::kReduce},
          {.operation = Operation::kPipeline, .micro_batches = 1},
          {.operation = Operation::kPipeline, .micro_batches = 5}};
}

std::vector<Schedule> schedules_of_all(const Case& c, std::uint64_t size) {
  std::vector<Schedule> schedules;
  schedules.reserve(static_cast<std::size_t>(c.ranks));
  for (int rank = 0; rank < c.ranks; ++rank) {
    schedules.push_back(build_schedule({.workload = c.workload,
                                        .rank = rank,
                                        .ranks = c.ranks,
                                        .size = size,
                                        .channels = c.channels,
                                        .step_bytes = c.step_bytes,
                                        .in_flight = c.in_flight}));
  }
  return schedules;
}

std::vector<Step> steps_of_rank_zero(const Case& c) {
  return schedules_of_all(c, c.size).front().steps;
}

std::vector<Bytes> inputs_of_all(const Case& c, std::uint64_t size) {
  std::mt19937 random(1);
  std::vector<Bytes> inputs(static_cast<std::size_t>(c.ranks), Bytes(input_size(c.workload, c.ranks, size)));
  for (Bytes& input : inputs) {
    for (std::size_t i = 0; i < input.size(); i += 4) {
      const auto word = static_cast<std::uint32_t>(random());
      std::memcpy(input.data() + i, &word, std::min<std::size_t>(4, input.size() - i));
    }
  }
  return inputs;
}

// The result of the operation by the text of the MPI standard, byte by byte, without the code under test.
Bytes slice(const Bytes& bytes, std::uint64_t offset, std::uint64_t count) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return Bytes(begin, begin + static_cast<std::ptrdiff_t>(count));
}

// Of whole words: the sizes of operations that sum are multiples of 4.
Bytes sum_of_all(const std::vector<Bytes>& inputs) {
  Bytes sum(inputs.front().size());
  for (std::uint64_t i = 0; i + 4 <= sum.size(); i += 4) {
    std::uint32_t total = 0;
    for (const Bytes& input : inputs) {
      std::uint32_t word = 0;
      std::memcpy(&word, input.data() + i, 4);
      total += word;
    }
    std::memcpy(sum.data() + i, &total, 4);
  }
  return sum;
}

Bytes concatenated(const std::vector<Bytes>& parts) {
  Bytes whole;
  for (const Bytes& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

// What the ranks put in, and its sum, which every rank's result may need.
struct Inputs {
  std::vector<Bytes> of_rank;
  Bytes sum;
};

Bytes expected_output_of(const Case& c, int rank, const Inputs& inputs) {
  const int n = c.ranks;
  const auto input = [&](int r) -> const Bytes& { return inputs.of_rank[static_cast<std::size_t>((r + n) % n)]; };
  const std::uint64_t block = input(0).size() / static_cast<std::uint64_t>(n);
  const std::uint64_t own = block * static_cast<std::uint64_t>(rank);
  switch (c.workload.operation) {
    case Operation::kAllReduceRing:
    case Operation::kAllReduceTree:
      return inputs.sum;
    case Operation::kReduceScatter:
      return slice(inputs.sum, own, block);
    case Operation::kAllGather:
      return concatenated(inputs.of_rank);
    case Operation::kBroadcast:
      return input(0);
    case Operation::kReduce:
      return rank == 0 ? inputs.sum : Bytes(input(0).size(), kUntouched);
    case Operation::kPipeline:
      return rank == 0 ? Bytes(input(0).size(), kUntouched) : input(0);
    case Operation::kAllToAll: {
      std::vector<Bytes> parts;
      parts.reserve(static_cast<std::size_t>(n));
      for (int r = 0; r < n; ++r) parts.push_back(slice(input(r), own, block));
      return concatenated(parts);
    }
    case Operation::kOpposite:
      return input(rank - n / 2);
    case Operation::kNeighbour:
      return input(rank - 1);
    case Operation::kPair:
      return rank == c.workload.destination ? input(c.workload.source) : Bytes(input(0).size(), kUntouched);
    case Operation::kPingPong:
      return rank == c.workload.destination || rank == c.workload.source ? input(c.workload.source)
                                                                         : Bytes(input(0).size(), kUntouched);
  }
  return {};
}

// The result according to the segments of expected_output().
Bytes bytes_of(const std::vector<ExpectedSegment>& segments, const Inputs& inputs) {
  Bytes bytes;
  for (const ExpectedSegment& segment : segments) {
    EXPECT_EQ(segment.output_offset, bytes.size());
    Bytes part(segment.bytes, kUntouched);
    if (segment.content == ExpectedSegment::Content::kSum) {
      part = slice(inputs.sum, segment.input_offset, segment.bytes);
    } else if (segment.content == ExpectedSegment::Content::kFromRank) {
      part = slice(inputs.of_rank[static_cast<std::size_t>(segment.rank)], segment.input_offset, segment.bytes);
    }
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

void check_case(const Case& c, unsigned seed) {
  SCOPED_TRACE(c.name());
  const std::uint64_t size = rounded_size(c.workload, c.ranks, c.size);
  Inputs inputs{inputs_of_all(c, size), {}};
  inputs.sum = sum_of_all(inputs.of_rank);
  ScheduleSimulator simulator(schedules_of_all(c, size), inputs.of_rank, c.in_flight, seed);
  ASSERT_EQ(simulator.run(), "");
  for (int rank = 0; rank < c.ranks; ++rank) {
    const Bytes expected = expected_output_of(c, rank, inputs);
    // Not EXPECT_EQ, which would print all the bytes.
    EXPECT_TRUE(simulator.output(rank) == expected) << "rank " << rank;
    EXPECT_TRUE(bytes_of(expected_output(c.workload, rank, c.ranks, size), inputs) == expected) << "rank " << rank;
  }
}

class ScheduleOfRanks : public testing::TestWithParam<int> {};

TEST_P(ScheduleOfRanks, IsCorrectForAnyOrderOfSteps) {
  unsigned seed = 1;
  const std::vector<std::uint64_t> sizes = cableway::test::kSlowBuild
                                               ? std::vector<std::uint64_t>{0, 1001, 40007}
                                               : std::vector<std::uint64_t>{0, 8, 1001, 40007, 150004};
  for (const Workload& workload : all_workloads(GetParam())) {
    for (const std::uint64_t size : sizes) {
      for (int channels : {1, 3}) {
        for (std::uint64_t step_bytes : {std::uint64_t{4096}, kStepBytes}) {
          check_case({workload, GetParam(), size, channels, step_bytes, /*in_flight=*/8}, seed++);
        }
      }
    }
  }
}

TEST_P(ScheduleOfRanks, CannotDeadlockForAnyLimitInFlight) {
  unsigned seed = 100;
  for (const Workload& workload : all_workloads(GetParam())) {
    for (int in_flight : {1, 2, 32}) {
      // Small steps: every staging slot is used many times over.
      check_case({workload, GetParam(), 20000, /*channels=*/1, /*step_bytes=*/128, in_flight}, seed++);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(From2To9, ScheduleOfRanks, testing::Range(2, 10), testing::PrintToStringParamName());

TEST(ScheduleTest, CollectivesMoveAtMostTheBytesOfTheBusFactor) {
  constexpr int kRanks = 4;
  constexpr std::uint64_t kSize = 8 << 20;
  for (const Workload& workload : all_workloads(kRanks)) {
    // The tree moves the same total, but not the same amount per rank.
    if (workload.operation == Operation::kAllReduceTree || workload.source >= 0) continue;
    const Case c{workload, kRanks, kSize, 2, kStepBytes, 8};
    for (const Schedule& schedule : schedules_of_all(c, kSize)) {
      std::uint64_t sent = 0;
      for (const Step& step : schedule.steps) sent += step.kind == StepKind::kSend ? step.bytes : 0;
      const bool is_chain = workload.operation == Operation::kBroadcast || workload.operation == Operation::kReduce ||
                            workload.operation == Operation::kPipeline;
      EXPECT_TRUE((is_chain && sent == 0) || sent == static_cast<std::uint64_t>(bus_factor(workload, kRanks) * kSize))
          << c.name() << " sent " << sent;
    }
  }
}

std::set<std::pair<int, int>> edges_of(const Case& c) {
  std::set<std::pair<int, int>> edges;
  const std::vector<Schedule> schedules = schedules_of_all(c, c.size);
  for (int rank = 0; rank < c.ranks; ++rank) {
    for (const Step& step : schedules[static_cast<std::size_t>(rank)].steps) {
      if (step.kind == StepKind::kSend) edges.insert({rank, step.peer});
    }
  }
  return edges;
}

TEST(ScheduleTest, TreeConnectsBothDiagonalsOfFourRanks) {
  const auto edges = edges_of({{Operation::kAllReduceTree}, 4, 1 << 20, 2, kStepBytes, 8});
  EXPECT_THAT(edges, testing::IsSupersetOf({std::pair(0, 2), std::pair(2, 0), std::pair(1, 3), std::pair(3, 1)}));
  EXPECT_THAT(edges, testing::Not(testing::Contains(std::pair(0, 3))));
}

TEST(ScheduleTest, RingOnlyUsesTheNextRank) {
  EXPECT_THAT(edges_of({{Operation::kAllReduceRing}, 4, 1 << 20, 2, kStepBytes, 8}),
              testing::UnorderedElementsAre(std::pair(0, 1), std::pair(1, 2), std::pair(2, 3), std::pair(3, 0)));
}

TEST(ScheduleTest, ReduceIsAChainThatEndsAtRankZero) {
  EXPECT_THAT(edges_of({{Operation::kReduce}, 4, 1 << 20, 2, kStepBytes, 8}),
              testing::UnorderedElementsAre(std::pair(1, 2), std::pair(2, 3), std::pair(3, 0)));
}

// Every send of the middle rank waits until its own micro-batch is completely received, and for no other batch.
TEST(ScheduleTest, AMicroBatchIsForwardedWhenComplete) {
  constexpr std::uint64_t kSize = 1 << 20;
  constexpr std::uint64_t kBatch = kSize / 4;
  const Workload workload{.operation = Operation::kPipeline, .micro_batches = 4};
  const Schedule schedule = schedules_of_all({workload, 3, kSize, 2, 65536, 8}, kSize)[1];
  const auto dependencies = [&](const Step& step) {
    return std::span(schedule.dependencies).subspan(step.first_dependency, step.dependency_count);
  };
  std::uint64_t sends = 0;
  for (const Step& step : schedule.steps) {
    if (step.kind != StepKind::kSend) continue;
    ++sends;
    ASSERT_EQ(step.dependency_count, 1U);
    std::uint64_t bytes = 0;
    for (const StepIndex received : dependencies(schedule.steps[dependencies(step).front()])) {
      EXPECT_EQ(schedule.steps[received].target.offset / kBatch, step.source.offset / kBatch);
      bytes += schedule.steps[received].bytes;
    }
    EXPECT_EQ(bytes, kBatch);
  }
  EXPECT_EQ(sends, kSize / 65536);
}

TEST(ScheduleTest, MicroBatchesAreWholeLines) {
  EXPECT_EQ(micro_batch_bytes(1024, 4), 256U);
  EXPECT_EQ(micro_batch_bytes(1025, 4), 384U);
  EXPECT_EQ(micro_batch_bytes(1, 8), 128U);
  EXPECT_EQ(micro_batch_bytes(0, 8), 128U);
}

TEST(ScheduleTest, LargeOperationsUseAllChannelsAndSmallOnesOne) {
  const auto channels = [](std::uint64_t size) {
    std::set<int> used;
    const Case c{{Operation::kNeighbour}, 2, size, 4, kStepBytes, 8};
    for (const Step& step : steps_of_rank_zero(c)) used.insert(step.channel);
    return used.size();
  };
  EXPECT_EQ(channels(8), 1U);
  EXPECT_EQ(channels(2 * kMinChannelBytes), 2U);
  EXPECT_EQ(channels(1 << 20), 4U);
}

TEST(ScheduleTest, SmallRingsSendEmptyMessages) {
  const Case c{{Operation::kAllReduceRing}, 4, 8, 1, kStepBytes, 8};
  std::map<std::uint64_t, int> by_size;
  for (const Step& step : steps_of_rank_zero(c)) {
    if (step.kind == StepKind::kSend) ++by_size[step.bytes];
  }
  EXPECT_GT(by_size[0], 0);
  EXPECT_GT(by_size[8], 0);
}

TEST(ScheduleTest, StagedReceivesArePostedWithTheWholeSlot) {
  const Case c{{Operation::kReduceScatter}, 3, 300000, 1, 4096, 8};
  bool larger = false;
  for (const Step& step : steps_of_rank_zero(c)) {
    if (step.kind == StepKind::kReceive) larger = larger || step.capacity > step.bytes;
  }
  EXPECT_TRUE(larger);
}

}  // namespace
}  // namespace cableway::workload
