#include "nccl_adapter/algorithm/algorithm_choice.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <limits>

#include "nccl_adapter/algorithm/tree_sizes.h"

namespace cableway::nccl {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;

TEST(AlgorithmChoice, OffAndOtherShapesOfJobsAreLeftToNccl) {
  for (const TunerSetting cabling :
       {TunerSetting::kSparks, TunerSetting::kRing, TunerSetting::kLine, TunerSetting::kMesh}) {
    for (const std::uint64_t nodes : {0U, 1U, 2U, 9U, 1000U}) {
      EXPECT_EQ(choose_all_reduce(cabling, nodes, nodes, kMiB), AllReduceChoice::kNone) << nodes;
    }
    EXPECT_EQ(choose_all_reduce(cabling, 8, 4, kMiB), AllReduceChoice::kNone);
    EXPECT_EQ(choose_all_reduce(cabling, 3, 4, kMiB), AllReduceChoice::kNone);
    EXPECT_NE(choose_all_reduce(cabling, 3, 3, kMiB), AllReduceChoice::kNone);
    EXPECT_NE(choose_all_reduce(cabling, 8, 8, kMiB), AllReduceChoice::kNone);
  }
  EXPECT_EQ(choose_all_reduce(TunerSetting::kOff, 4, 4, kMiB), AllReduceChoice::kNone);
}

TEST(AlgorithmChoice, LargeOnesGoAroundTheRing) {
  for (const TunerSetting cabling :
       {TunerSetting::kSparks, TunerSetting::kRing, TunerSetting::kLine, TunerSetting::kMesh}) {
    for (std::uint64_t nodes = kFewestTunedNodes; nodes <= kMostTunedNodes; ++nodes) {
      EXPECT_EQ(choose_all_reduce(cabling, nodes, nodes, 256 * kMiB), AllReduceChoice::kRing);
      EXPECT_EQ(choose_all_reduce(cabling, nodes, nodes, std::numeric_limits<std::uint64_t>::max()),
                AllReduceChoice::kRing);
    }
  }
}

// The ring's last cable leads over the whole line, so a small message is sooner done by a tree.
TEST(AlgorithmChoice, SmallOnesTakeATreeOnALine) {
  EXPECT_EQ(choose_all_reduce(TunerSetting::kLine, 4, 4, 8), AllReduceChoice::kTree);
  EXPECT_EQ(choose_all_reduce(TunerSetting::kLine, 4, 4, 256 * 1024), AllReduceChoice::kTree);
  EXPECT_EQ(choose_all_reduce(TunerSetting::kRing, 4, 4, 256 * 1024), AllReduceChoice::kRing);
}

// A tree on a ring of four loads all cables alike in both directions. Of a relay's PCIe links, of which each plug of a
// Spark has two, it takes twice what it passes on.
TEST(AlgorithmChoice, MiddleOnesTakeATreeOnARingOfFourUnlessOfSparks) {
  EXPECT_EQ(choose_all_reduce(TunerSetting::kRing, 4, 4, 4 * kMiB), AllReduceChoice::kTree);
  EXPECT_EQ(choose_all_reduce(TunerSetting::kSparks, 4, 4, 4 * kMiB), AllReduceChoice::kRing);
}

TEST(AlgorithmChoice, ChangesAtTheEndsOfTheSizes) {
  for (const TreeSizes& sizes : kTreeSizes) {
    ASSERT_LT(sizes.from, sizes.to);
    const auto choice = [&](std::uint64_t bytes) {
      return choose_all_reduce(sizes.cabling, sizes.nodes, sizes.nodes, bytes);
    };
    EXPECT_EQ(choice(sizes.from), AllReduceChoice::kTree);
    EXPECT_EQ(choice(sizes.to - 1), AllReduceChoice::kTree);
    EXPECT_EQ(choice(sizes.to), AllReduceChoice::kRing);
    if (sizes.from > 0) {
      EXPECT_EQ(choice(sizes.from - 1), AllReduceChoice::kRing);
    }
  }
}

}  // namespace
}  // namespace cableway::nccl
