#include "core/flow/resend_ranges.h"

#include <gtest/gtest.h>

namespace cableway {
namespace {

TEST(ResendRanges, AreInOrderAndJoined) {
  ResendRanges ranges;
  ranges.add({3, 512, 640});
  ranges.add({2, 0, 128});
  ranges.add({3, 256, 384});
  EXPECT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges.first(), (MessageRange{2, 0, 128}));
  ranges.add({3, 384, 512});
  EXPECT_EQ(ranges.size(), 2U);
  ranges.take_from_first(128);
  EXPECT_EQ(ranges.first(), (MessageRange{3, 256, 640}));
  ranges.take_from_first(128);
  EXPECT_EQ(ranges.first(), (MessageRange{3, 384, 640}));
  ranges.add({3, 256, 384});
  EXPECT_EQ(ranges.first(), (MessageRange{3, 256, 640}));
  ranges.add({3, 640, 700});
  EXPECT_EQ(ranges.first(), (MessageRange{3, 256, 700}));
  ranges.take_from_first(444);
  EXPECT_TRUE(ranges.empty());
}

TEST(ResendRanges, HoldAMessageWithoutBytes) {
  ResendRanges ranges;
  ranges.add({9, 0, 0});
  ranges.add({8, 0, 128});
  EXPECT_EQ(ranges.size(), 2U);
  ranges.take_from_first(128);
  EXPECT_EQ(ranges.first(), (MessageRange{9, 0, 0}));
  ranges.take_from_first(0);
  EXPECT_TRUE(ranges.empty());
}

}  // namespace
}  // namespace cableway
