// The published estimate of a noisy latency is accurate, available soon, and changes rarely.
#include "core/discovery/latency_estimate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace cableway {
namespace {

using namespace std::chrono_literals;

class LatencyEstimateTest : public ::testing::Test {
 protected:
  // Adds ten measurements and publishes once a second. Returns how often the published latency has changed.
  template <typename Measure>
  int run(Duration time, const Measure& measure) {
    int changes = 0;
    const Instant end = now_ + time;
    while (now_ < end) {
      for (int i = 0; i < 10; ++i) {
        estimate_.add(measure(), now_);
        now_ = now_ + 100ms;
      }
      changes += estimate_.publish(true) ? 1 : 0;
    }
    return changes;
  }
  int run_with(Duration time, Duration latency) {
    return run(time, [&] { return latency; });
  }
  Duration published() const { return estimate_.published().value_or(Duration(0)); }

  LatencyEstimate estimate_;
  Instant now_{1h};
};

TEST_F(LatencyEstimateTest, IsNotKnownUntilEnoughWasMeasured) {
  EXPECT_FALSE(estimate_.publish(true));
  for (int i = 0; i < 7; ++i) estimate_.add(20us, now_);
  EXPECT_FALSE(estimate_.publish(true));
  EXPECT_FALSE(estimate_.published().has_value());
  estimate_.add(30us, now_);
  EXPECT_TRUE(estimate_.publish(false)) << "the first one at once";
  EXPECT_EQ(published(), 20us);
  EXPECT_FALSE(estimate_.publish(true)) << "nothing new";
  estimate_.add(10us, now_);
  EXPECT_FALSE(estimate_.publish(false)) << "not yet";
  EXPECT_TRUE(estimate_.publish(true));
  EXPECT_EQ(published(), 10us);
}

TEST_F(LatencyEstimateTest, IsTheLeast) {
  int count = 0;
  run(2s, [&] { return Duration(++count % 7 == 0 ? 10us : 500us); });
  EXPECT_EQ(published(), 10us);
}

TEST_F(LatencyEstimateTest, FollowsALowerOneAtOnce) {
  run_with(20s, 500us);
  EXPECT_EQ(run_with(11s, 476us), 0) << "less than a twentieth";
  EXPECT_EQ(published(), 500us);
  EXPECT_EQ(run_with(1s, 474us), 1);
  EXPECT_EQ(published(), 474us);
}

TEST_F(LatencyEstimateTest, FollowsAHigherOneWithinTwoMinutes) {
  run_with(20s, 500us);
  run_with(200s, 599us);
  EXPECT_EQ(published(), 500us) << "less than a fifth";
  EXPECT_EQ(run_with(55s, 2ms), 0) << "load, for a while";
  EXPECT_EQ(run_with(65s, 2ms), 1);
  EXPECT_EQ(published(), 2ms);
}

TEST_F(LatencyEstimateTest, IgnoresChangesBelowTheNoise) {
  run_with(20s, 2us);
  EXPECT_EQ(run_with(200s, 1100ns), 0);
  EXPECT_EQ(run_with(200s, 11us), 0);
  EXPECT_EQ(published(), 2us);
}

// Noise as a busy host has it: most measurements are several times too high.
TEST_F(LatencyEstimateTest, RarelyChangesWithNoise) {
  for (const Duration latency : {Duration(8us), Duration(500us)}) {
    estimate_ = LatencyEstimate();
    std::mt19937_64 random(1);
    std::exponential_distribution<double> noise_us(1.0 / 50);
    const auto measure = [&] { return latency + Duration(static_cast<std::int64_t>(noise_us(random) * 1000)); };
    run(60s, measure);
    EXPECT_LE(run(std::chrono::hours(24), measure), 3);
    EXPECT_GE(published(), latency);
    EXPECT_LE(published(), latency * 6 / 5);
  }
}

TEST_F(LatencyEstimateTest, KeepsEnoughWhereHellosAreRare) {
  for (int i = 0; i < 8; ++i) estimate_.add(20us, now_ = now_ + 10s);
  EXPECT_TRUE(estimate_.publish(true));
  for (int i = 0; i < 30; ++i) estimate_.add(90us, now_ = now_ + 10s);
  EXPECT_FALSE(estimate_.publish(true)) << "five minutes, and few measurements";
  for (int i = 0; i < 40; ++i) estimate_.add(90us, now_ = now_ + 10s);
  EXPECT_TRUE(estimate_.publish(true));
  EXPECT_EQ(published(), 90us);
}

}  // namespace
}  // namespace cableway
