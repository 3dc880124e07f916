#include "tools/collperf/test_data.h"

#include <cstring>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace cableway::collperf {
namespace {

using Content = ExpectedSegment::Content;

std::vector<std::uint8_t> input_of(DataTag tag, int rank, std::uint64_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  fill_input(tag, rank, data.data(), bytes);
  return data;
}

TEST(TestDataTest, EveryWordDependsOnRankMeasurementIterationAndIndex) {
  std::set<std::uint32_t> words;
  for (std::uint32_t measurement : {0U, 1U}) {
    for (std::uint32_t iteration : {0U, 1U, 2U}) {
      for (int rank : {0, 1, 2, 3}) {
        for (std::uint64_t index : {0ULL, 1ULL, 128ULL, 1ULL << 32, (1ULL << 32) + 1}) {
          words.insert(input_word({measurement, iteration}, rank, index));
        }
      }
    }
  }
  EXPECT_EQ(words.size(), 2U * 3 * 4 * 5);
}

TEST(TestDataTest, AcceptsCorrectData) {
  const DataTag tag{3, 4};
  for (std::uint64_t bytes : {0, 1, 3, 4, 4097, 100003}) {
    const std::vector<std::uint8_t> data = input_of(tag, 2, bytes);
    const CheckResult result = check_output(tag, 4, {{Content::kFromRank, 0, bytes, 2, 0}}, data.data());
    EXPECT_EQ(result.wrong_bytes, 0U);
    EXPECT_EQ(result.checked_bytes, bytes);
  }
}

TEST(TestDataTest, SegmentsMayBeginAnywhereInAWord) {
  const DataTag tag{0, 1};
  const std::vector<std::uint8_t> data = input_of(tag, 1, 50000);
  for (std::uint64_t offset : {1, 2, 3, 4095, 4097}) {
    const ExpectedSegment segment{Content::kFromRank, 0, 40001, 1, offset};
    EXPECT_EQ(check_output(tag, 2, {segment}, data.data() + offset).wrong_bytes, 0U) << offset;
    EXPECT_GT(check_output(tag, 2, {segment}, data.data()).wrong_bytes, 39000U) << offset;
  }
}

TEST(TestDataTest, FindsEverySingleWrongByte) {
  const DataTag tag{0, 1};
  const std::vector<ExpectedSegment> segments = {{Content::kFromRank, 0, 5003, 0, 0}};
  std::vector<std::uint8_t> data = input_of(tag, 0, 5003);
  for (std::uint64_t i = 0; i < data.size(); ++i) {
    data[i] ^= 1;
    const CheckResult result = check_output(tag, 2, segments, data.data());
    ASSERT_EQ(result.wrong_bytes, 1U);
    ASSERT_EQ(result.first_wrong_offset, i);
    ASSERT_EQ(result.found, result.expected ^ 1);
    data[i] ^= 1;
  }
}

TEST(TestDataTest, DetectsAnotherRankIterationOrMeasurement) {
  const std::vector<ExpectedSegment> segments = {{Content::kFromRank, 0, 4000, 0, 0}};
  EXPECT_GT(check_output({0, 1}, 2, segments, input_of({0, 1}, 1, 4000).data()).wrong_bytes, 3900U);
  EXPECT_GT(check_output({0, 1}, 2, segments, input_of({0, 2}, 0, 4000).data()).wrong_bytes, 3900U);
  EXPECT_GT(check_output({0, 1}, 2, segments, input_of({1, 1}, 0, 4000).data()).wrong_bytes, 3900U);
}

TEST(TestDataTest, SumsAreExact) {
  const DataTag tag{5, 6};
  constexpr int kRanks = 3;
  std::vector<std::uint32_t> sum(3000);
  for (int rank = 0; rank < kRanks; ++rank) {
    for (std::uint64_t i = 0; i < sum.size(); ++i) sum[i] += input_word(tag, rank, 7 + i);
  }
  const ExpectedSegment segment{Content::kSum, 0, sum.size() * 4, 0, 28};
  EXPECT_EQ(check_output(tag, kRanks, {segment}, reinterpret_cast<std::uint8_t*>(sum.data())).wrong_bytes, 0U);
  ++sum[2999];
  EXPECT_GE(check_output(tag, kRanks, {segment}, reinterpret_cast<std::uint8_t*>(sum.data())).wrong_bytes, 1U);
}

TEST(TestDataTest, OverwrittenPoisonIsWrongButNeverCountsAsVerified) {
  std::vector<std::uint8_t> data(10000);
  fill_poison(data.data(), data.size());
  EXPECT_EQ(check_poison(data.data(), data.size()).wrong_bytes, 0U);
  data[9999] = 0;
  const CheckResult result = check_poison(data.data(), data.size());
  EXPECT_EQ(result.wrong_bytes, 1U);
  EXPECT_EQ(result.first_wrong_offset, 9999U);
  EXPECT_EQ(result.checked_bytes, 0U);
}

}  // namespace
}  // namespace cableway::collperf
