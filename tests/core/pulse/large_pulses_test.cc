// Cables over which small packets arrive and large ones do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "core/pulse/pulses.h"
#include "tests/core/pulse/pulse_pair.h"

namespace cableway {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::uint64_t kAll = 1'000'000;

TEST(LargePulsesTest, OnePulseInFiveHasTheFullSize) {
  PulsePair pair;
  pair.run_for(1s);
  std::size_t large = 0;
  for (int i = 0; i < 100; ++i) {
    pair.run_for(10ms);
    ASSERT_THAT((std::vector{kPulseBytes, kLargePulseBytes}), Contains(pair.a.last_sent.size()));
    large += pair.a.last_sent.size() == kLargePulseBytes ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(large), 20, 1);
}

TEST(LargePulsesTest, BothEndsKnowWithinAQuarterOfASecondThatTheyAreLost) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    PulsePair pair(seed);
    pair.run_for(3s + Duration(pair.random() % 100'000'000));
    const Instant lost_at = pair.now;
    pair.a.large_loss_in_million = kAll;
    pair.run_for(1s);
    ASSERT_THAT(pair.a.found, SizeIs(1)) << seed;
    ASSERT_THAT(pair.b.found, SizeIs(1)) << seed;
    EXPECT_EQ(pair.a.found[0].verdict,
              (CableVerdict{CableTrust::kNone, "large packets are lost: none arrives at node n2, small ones do"}));
    EXPECT_EQ(pair.b.found[0].verdict.trust, CableTrust::kNone);
    EXPECT_THAT(pair.b.found[0].verdict.reason,
                StartsWith("large packets are lost: none from node n1 has arrived for 2"));
    EXPECT_LE(pair.a.found[0].at - lost_at, 245ms) << seed;
    EXPECT_GE(pair.b.found[0].at - lost_at, 160ms) << seed;
    EXPECT_THAT(pair.a.proving, IsEmpty());
    EXPECT_THAT(pair.b.proving, IsEmpty());
  }
}

TEST(LargePulsesTest, WithLongIntervalsTheLossOfFourIsFoundAsWell) {
  for (const auto& [interval_a, interval_b] :
       {std::pair(100ms, 100ms), std::pair(50ms, 50ms), std::pair(10ms, 100ms)}) {
    PulsePair pair(1, interval_a, interval_b);
    pair.run_for(10s);
    EXPECT_THAT(pair.a.found, IsEmpty());
    const Instant lost_at = pair.now;
    pair.b.large_loss_in_million = kAll;
    pair.run_for(3s);
    ASSERT_THAT(pair.a.found, SizeIs(1));
    ASSERT_THAT(pair.b.found, SizeIs(1));
    EXPECT_LE(pair.b.found[0].at - lost_at, 11 * interval_b) << interval_b.count();
  }
}

TEST(LargePulsesTest, ACableThatLetsSomeThroughIsNotTrustedAndLeftWithEachOfThem) {
  for (const std::uint64_t lost : {800'000U, 900'000U, 970'000U}) {
    PulsePair pair(3);
    pair.run_for(3s);
    pair.a.large_loss_in_million = lost;
    pair.run_for(600s);
    EXPECT_LE(pair.a.found.size() + pair.a.proving.size(), 120U) << lost;
    EXPECT_LE(pair.b.found.size() + pair.b.proving.size(), 120U) << lost;
  }
}

TEST(LargePulsesTest, ThatCannotBeSentLeaveSmallOnesWhichShowTheLoss) {
  PulsePair pair;
  pair.run_for(3s);
  pair.a.refuses_large = true;
  pair.run_for(1s);
  ASSERT_THAT(pair.b.found, SizeIs(1));
  EXPECT_THAT(pair.b.found[0].verdict.reason, StartsWith("large packets are lost"));
  EXPECT_EQ(pair.a.last_sent.size(), kPulseBytes);
}

TEST(LargePulsesTest, ACableThatWasDownIsNotJudgedByWhatItLostBefore) {
  PulsePair pair;
  pair.run_for(3s);
  pair.a.large_loss_in_million = kAll;
  pair.run_for(150ms);
  pair.lose_cable();
  pair.run_for(1s);
  pair.a.large_loss_in_million = 0;
  pair.find_cable();
  pair.run_for(5s);
  EXPECT_THAT(pair.a.found, IsEmpty());
  EXPECT_THAT(pair.b.found, IsEmpty());
}

TEST(LargePulsesTest, TheCableCountsAgainOnceTheyArrive) {
  PulsePair pair;
  pair.run_for(3s);
  pair.a.large_loss_in_million = pair.b.large_loss_in_million = kAll;
  pair.run_for(60s);
  ASSERT_THAT(pair.a.found, SizeIs(1));
  ASSERT_THAT(pair.b.found, SizeIs(1));
  const Instant mended_at = pair.now;
  pair.a.large_loss_in_million = pair.b.large_loss_in_million = 0;
  pair.run_for(1s);
  for (const PulsingHost* host : {&pair.a, &pair.b}) {
    ASSERT_THAT(host->found, SizeIs(2));
    EXPECT_EQ(host->found[1].verdict.trust, CableTrust::kAll);
    EXPECT_GE(host->found[1].at - mended_at, 200ms);
    EXPECT_LE(host->found[1].at - mended_at, 400ms);
    EXPECT_THAT(host->losses, IsEmpty()) << "their loss is no random loss";
  }
}

TEST(LargePulsesTest, ASilenceThatEndsIsNoLossOfLargeOnes) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    PulsePair pair(seed);
    pair.run_for(3s + Duration(pair.random() % 100'000'000));
    pair.cut_both_for(500ms);
    pair.run_for(2s);
    for (const PulsingHost* host : {&pair.a, &pair.b}) {
      ASSERT_THAT(host->found, SizeIs(2)) << seed;
      EXPECT_EQ(host->found[1].verdict.trust, CableTrust::kAll) << seed;
    }
  }
}

TEST(LargePulsesTest, BusyHostsAndRandomLossLoseNone) {
  for (const std::uint64_t loss_in_million : {0U, 10'000U, 50'000U, 200'000U}) {
    PulsePair pair(7);
    pair.a.loss_in_million = pair.b.loss_in_million = loss_in_million;
    // One turn in 50 is late by up to 60 ms.
    pair.run_for(1h, [&](const PulsingHost& /*host*/) {
      return Duration(pair.random() % (pair.random() % 50 == 0 ? 60'000'000 : 200'000));
    });
    EXPECT_THAT(pair.a.found, IsEmpty()) << loss_in_million;
    EXPECT_THAT(pair.b.found, IsEmpty()) << loss_in_million;
  }
}

TEST(LargePulsesTest, ANodeThatStoodStillHasLostNone) {
  for (const Duration still : {Duration(250ms), Duration(2s), Duration(10s)}) {
    PulsePair pair;
    pair.run_for(3s);
    pair.stop(pair.b, still);
    pair.run_for(still + 40s);
    EXPECT_THAT(pair.b.found, IsEmpty()) << still.count();
    ASSERT_THAT(pair.a.found, SizeIs(still > 300ms ? 2 : 0)) << still.count();
  }
}

}  // namespace
}  // namespace cableway
