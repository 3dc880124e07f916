#include "core/flow/landed_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace cableway {
namespace {

using Added = LandedRanges::Added;

class LandedRangesTest : public testing::Test {
 protected:
  Added add(std::uint64_t begin, std::uint64_t end) { return ranges_.add(begin, end, islands_); }

  IslandPool islands_;
  LandedRanges ranges_;
};

TEST_F(LandedRangesTest, GrowInOrder) {
  EXPECT_EQ(ranges_.prefix(), 0U);
  EXPECT_EQ(add(0, 128), Added::kNew);
  EXPECT_EQ(add(128, 200), Added::kNew);
  EXPECT_EQ(ranges_.prefix(), 200U);
  EXPECT_FALSE(ranges_.has_islands());
}

TEST_F(LandedRangesTest, JoinIslandsFromEitherSideAndWithThePrefix) {
  EXPECT_EQ(add(300, 400), Added::kNew);
  EXPECT_EQ(add(500, 600), Added::kNew);
  EXPECT_EQ(add(200, 300), Added::kNew);
  EXPECT_EQ(add(600, 700), Added::kNew);
  EXPECT_EQ(add(400, 500), Added::kNew);
  EXPECT_EQ(ranges_.prefix(), 0U);
  EXPECT_EQ(add(0, 200), Added::kNew);
  EXPECT_EQ(ranges_.prefix(), 700U);
  EXPECT_FALSE(ranges_.has_islands());
}

TEST_F(LandedRangesTest, RefuseOverlaps) {
  ASSERT_EQ(add(0, 100), Added::kNew);
  ASSERT_EQ(add(200, 300), Added::kNew);
  for (const auto& [begin, end] :
       {std::pair{0, 100}, {50, 60}, {99, 150}, {150, 201}, {200, 300}, {299, 400}, {100, 400}}) {
    EXPECT_EQ(add(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)), Added::kOverlaps) << begin;
  }
  EXPECT_EQ(ranges_.prefix(), 100U);
  EXPECT_EQ(add(100, 200), Added::kNew);
  EXPECT_EQ(ranges_.prefix(), 300U);
}

TEST_F(LandedRangesTest, AcceptAnEmptyMessage) {
  EXPECT_EQ(add(0, 0), Added::kNew);
  EXPECT_EQ(ranges_.prefix(), 0U);
}

TEST_F(LandedRangesTest, AreLimitedByThePoolAndReturnIslands) {
  LandedRanges other;
  for (std::uint64_t i = 0; i < IslandPool::kMaxIslands; ++i) {
    LandedRanges& of = i % 2 == 0 ? ranges_ : other;
    ASSERT_EQ(of.add(1 + 10 * i, 2 + 10 * i, islands_), Added::kNew) << i;
  }
  EXPECT_EQ(add(5, 6), Added::kNoRoom);
  EXPECT_EQ(other.add(50'000, 50'001, islands_), Added::kNoRoom);
  EXPECT_EQ(add(2, 3), Added::kNew) << "one that touches an island needs none";
  EXPECT_EQ(add(0, 1), Added::kNew);
  EXPECT_EQ(ranges_.prefix(), 3U);
  EXPECT_EQ(add(5, 6), Added::kNew) << "the island that the prefix has reached is free";
  other.clear(islands_);
  ranges_.clear(islands_);
  for (std::uint64_t i = 0; i < IslandPool::kMaxIslands; ++i) {
    ASSERT_EQ(add(1 + 2 * i, 2 + 2 * i), Added::kNew) << i;
  }
}

TEST(LandedRanges, MatchABitmapInAnyOrder) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random()) % bound; };
  for (int round = 0; round < 2000; ++round) {
    IslandPool islands;
    LandedRanges ranges;
    std::vector<bool> landed(64, false);
    for (int i = 0; i < 40; ++i) {
      const std::uint32_t begin = below(64);
      const std::uint32_t end = begin + 1 + below(std::min(8U, 64 - begin));
      const auto first = landed.begin() + begin;
      const auto last = landed.begin() + end;
      const bool overlaps = std::find(first, last, true) != last;
      ASSERT_EQ(ranges.add(begin, end, islands), overlaps ? Added::kOverlaps : Added::kNew);
      if (!overlaps) std::fill(first, last, true);
      const auto hole = std::find(landed.begin(), landed.end(), false);
      ASSERT_EQ(ranges.prefix(), static_cast<std::uint64_t>(hole - landed.begin()));
      ASSERT_EQ(ranges.has_islands(), std::find(hole, landed.end(), true) != landed.end());
    }
  }
}

}  // namespace
}  // namespace cableway
