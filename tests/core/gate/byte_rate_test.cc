#include "core/gate/byte_rate.h"

#include <gtest/gtest.h>

#include <chrono>

namespace cableway {
namespace {

using std::chrono::milliseconds;

constexpr Instant kBegin{std::chrono::hours(1)};

TEST(ByteRate, IsNotKnownBeforeAWindow) {
  ByteRate rate;
  EXPECT_TRUE(rate.is_due(kBegin));
  rate.measure(kBegin, 5'000'000);
  EXPECT_EQ(rate.per_second(), 0U) << "what was counted before says nothing";
  EXPECT_FALSE(rate.is_due(kBegin + milliseconds(249)));
}

TEST(ByteRate, IsWhatTheCountHasGrownBy) {
  ByteRate rate;
  rate.measure(kBegin, 5'000'000);
  rate.measure(kBegin + milliseconds(500), 6'000'000);
  EXPECT_EQ(rate.per_second(), 2'000'000U);
  rate.measure(kBegin + milliseconds(750), 6'000'000);
  EXPECT_EQ(rate.per_second(), 0U);
}

TEST(ByteRate, ACountThatBeginsAgainIsNoRate) {
  ByteRate rate;
  rate.measure(kBegin, 5'000'000);
  rate.measure(kBegin + milliseconds(250), 1'000);
  EXPECT_EQ(rate.per_second(), 0U);
  rate.measure(kBegin + milliseconds(500), 2'000);
  EXPECT_EQ(rate.per_second(), 4'000U);
}

}  // namespace
}  // namespace cableway
