#include "core/pulse/loss_meter.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "tests/core/pulse/pulse_pair.h"

namespace cableway {
namespace {

// Pulses every 10 ms over a cable that loses some at random, or in a pattern.
class LossyCable {
 public:
  explicit LossyCable(std::uint64_t seed = 1) : random_(seed) {}

  // What the meter has reported meanwhile.
  std::vector<unsigned> run_for(Duration duration, unsigned lost_permille) {
    std::vector<unsigned> reported;
    for (const Instant end = now + duration; now < end; now = now + 10ms) {
      ++number;
      if (random_() % 1000 < lost_permille) continue;
      meter.heard(number, now);
      if (const std::optional<unsigned> percent = meter.changed()) reported.push_back(*percent);
    }
    return reported;
  }

  LossMeter meter;
  std::uint64_t number = 0;
  Instant now{1h};

 private:
  std::mt19937_64 random_;
};

TEST(LossMeter, FindsFivePercentInTheFirstWindowNearlyAlways) {
  int found_late = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    LossyCable cable(seed);
    if (cable.run_for(11s, 50).empty()) ++found_late;
    EXPECT_GE(cable.meter.percent() + (found_late > 0 ? 3 : 0), 3U);
  }
  EXPECT_LE(found_late, 10);
}

TEST(LossMeter, ReportsThePercentage) {
  LossyCable cable;
  const std::vector<unsigned> reported = cable.run_for(11s, 200);
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_NEAR(reported[0], 20, 4);
  EXPECT_EQ(cable.meter.percent(), reported[0]);
}

TEST(LossMeter, ADayOfHalfAPercentIsNotLossy) {
  LossyCable cable;
  EXPECT_TRUE(cable.run_for(24h, 5).empty());
}

TEST(LossMeter, ReportsAgainWhenLossDoubles) {
  LossyCable cable;
  cable.run_for(11s, 60);
  EXPECT_TRUE(cable.run_for(60s, 70).empty()) << "about the same";
  const std::vector<unsigned> reported = cable.run_for(20s, 300);
  ASSERT_FALSE(reported.empty());
  EXPECT_GE(reported.back(), 20U);
}

TEST(LossMeter, IsGoodAgainAfterAMinuteWithoutLoss) {
  LossyCable cable;
  ASSERT_EQ(cable.run_for(11s, 100).size(), 1U);
  EXPECT_TRUE(cable.run_for(50s, 0).empty());
  const std::vector<unsigned> reported = cable.run_for(25s, 0);
  EXPECT_EQ(reported, std::vector<unsigned>{0});
  EXPECT_EQ(cable.meter.percent(), 0U);
}

TEST(LossMeter, ReportsLessOnceLossIsHalf) {
  LossyCable cable;
  cable.run_for(11s, 600);
  EXPECT_TRUE(cable.run_for(50s, 50).empty());
  // The window in which loss became less counts, too; the percentage follows in two steps.
  EXPECT_EQ(cable.run_for(30s, 50).size(), 1U);
  cable.run_for(2min, 50);
  EXPECT_NEAR(cable.meter.percent(), 6, 3);
  EXPECT_TRUE(cable.run_for(1h, 50).empty()) << "about the same";
}

TEST(LossMeter, SilenceProvesNothing) {
  LossyCable cable;
  ASSERT_EQ(cable.run_for(11s, 100).size(), 1U);
  cable.now = cable.now + 50s;
  cable.meter.interrupted(cable.now);
  EXPECT_TRUE(cable.run_for(55s, 0).empty());
  EXPECT_EQ(cable.run_for(30s, 0), std::vector<unsigned>{0});
}

TEST(LossMeter, LossOfTwoPercentKeepsALossyCableLossy) {
  LossyCable cable;
  cable.run_for(11s, 100);
  EXPECT_EQ(cable.run_for(1h, 20).size(), 1U) << "less than before";
  EXPECT_NEAR(cable.meter.percent(), 2, 1);
}

// One that loses packets while it is used, and none while it is not.
TEST(LossMeter, EachFurtherLossWithinAnHourDoublesTheProof) {
  LossyCable cable;
  Duration proof = LossMeter::kFirstProof;
  for (int time = 0; time < 8; ++time) {
    ASSERT_EQ(cable.run_for(20s, 100).size(), 1U) << time;
    const Instant clean_since = cable.now;
    while (cable.meter.percent() > 0) cable.run_for(1s, 0);
    EXPECT_GE(cable.now - clean_since, proof - 20s) << time;
    EXPECT_LE(cable.now - clean_since, proof + 21s) << time;
    proof = std::min<Duration>(2 * proof, LossMeter::kLongestProof);
  }
  cable.run_for(61min, 0);
  ASSERT_EQ(cable.run_for(20s, 100).size(), 1U);
  EXPECT_EQ(cable.run_for(85s, 0), std::vector<unsigned>{0}) << "an hour without loss is forgiven";
}

TEST(LossMeter, AnInterruptionIsNoLoss) {
  LossyCable cable;
  for (int time = 0; time < 100; ++time) {
    EXPECT_TRUE(cable.run_for(5s, 0).empty());
    cable.number += 100;  // a second of silence
    cable.meter.interrupted(cable.now);
  }
}

TEST(LossMeter, OneThatOvertakesOrComesLateIsNotLost) {
  LossMeter meter;
  Instant now{1h};
  for (std::uint64_t number = 1; number < 50'000; number += 2, now = now + 20ms) {
    meter.heard(number + 1, now);
    meter.heard(number, now);
  }
  EXPECT_EQ(meter.changed(), std::nullopt);
}

}  // namespace
}  // namespace cableway
