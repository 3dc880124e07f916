#include "core/pulse/pulses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "tests/core/pulse/pulse_pair.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(PulsesTest, ACableThatCarriesPulsesIsTrusted) {
  PulsePair pair;
  pair.run_for(60s);
  EXPECT_THAT(pair.a.found, IsEmpty());
  EXPECT_THAT(pair.b.found, IsEmpty());
  EXPECT_EQ(pair.a.looks, 0U);
}

TEST(PulsesTest, ASilentCableIsFoundByBothEndsWithinFiveIntervals) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    PulsePair pair(seed);
    pair.run_for(3s + Duration(pair.random() % 10'000'000));
    const Instant cut_at = pair.now;
    pair.cut_both(true);
    pair.run_for(200ms);
    for (const PulsingHost* host : {&pair.a, &pair.b}) {
      ASSERT_THAT(host->found, SizeIs(1)) << seed;
      EXPECT_EQ(host->found[0].verdict.trust, CableTrust::kNone);
      EXPECT_THAT(host->found[0].verdict.reason, HasSubstr("nothing was heard for 3"));
      EXPECT_LE(host->found[0].at - cut_at, 50ms) << seed;
      EXPECT_GE(host->found[0].at - cut_at, 20ms) << seed;
    }
  }
}

TEST(PulsesTest, TheEndWhosePulsesAreLostLearnsItFromTheOtherAtOnce) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    PulsePair pair(seed);
    pair.run_for(3s + Duration(pair.random() % 10'000'000));
    const Instant cut_at = pair.now;
    pair.a.cut = true;
    pair.run_for(500ms);
    ASSERT_THAT(pair.a.found, SizeIs(1));
    // Found after 35 ms, and read with the next pulse, 40 ms after the last one that arrived.
    EXPECT_LE(pair.a.found[0].at - cut_at, 42ms) << seed;
  }
}

TEST(PulsesTest, TheEndWhosePulsesAreLostLearnsItFromTheOther) {
  PulsePair pair;
  pair.run_for(3s);
  pair.a.cut = true;
  pair.run_for(500ms);
  ASSERT_THAT(pair.a.found, SizeIs(1));
  ASSERT_THAT(pair.b.found, SizeIs(1));
  EXPECT_EQ(pair.a.found[0].verdict, (CableVerdict{CableTrust::kNone, "node n2 hears nothing of this node"}));
  pair.a.cut = false;
  pair.run_for(500ms);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  ASSERT_THAT(pair.b.found, SizeIs(2));
  EXPECT_EQ(pair.a.found[1].verdict.trust, CableTrust::kAll);
  EXPECT_EQ(pair.b.found[1].verdict.trust, CableTrust::kAll);
}

TEST(PulsesTest, ACableCountsAgainAfterAProofThatEachFlapDoubles) {
  PulsePair pair;
  pair.run_for(3s);
  Duration proof = 200ms;
  for (int flap = 0; flap < 12; ++flap) {
    pair.a.found.clear();
    pair.cut_both_for(100ms);
    const Instant mended_at = pair.now;
    pair.run_for(31s);
    ASSERT_THAT(pair.a.found, SizeIs(2));
    EXPECT_EQ(pair.a.found[1].verdict.trust, CableTrust::kAll);
    EXPECT_GE(pair.a.found[1].at - mended_at, proof);
    EXPECT_LE(pair.a.found[1].at - mended_at, proof + 40ms);
    proof = std::min<Duration>(2 * proof, 30s);
  }
  pair.run_for(61s);
  pair.a.found.clear();
  pair.cut_both_for(100ms);
  pair.run_for(300ms);
  EXPECT_THAT(pair.a.found, SizeIs(2));
}

TEST(PulsesTest, ASilenceDuringTheProofBeginsItAgain) {
  PulsePair pair;
  pair.run_for(3s);
  pair.cut_both_for(100ms);
  pair.run_for(150ms);
  pair.b.cut = true;
  pair.run_for(500ms);
  pair.b.cut = false;
  const Instant mended_at = pair.now;
  pair.run_for(500ms);
  ASSERT_THAT(pair.a.found, SizeIs(3));
  EXPECT_EQ(pair.a.found[1].verdict.trust, CableTrust::kNone) << "while it proved itself";
  EXPECT_GE(pair.a.found[2].at - mended_at, 200ms);
}

TEST(PulsesTest, ANodeThatStandsStillRelaysNothingAndIsNoSilentCable) {
  PulsePair pair;
  pair.run_for(3s);
  const Instant stopped_at = pair.now;
  pair.stop(pair.b, 10s);
  pair.run_for(9s);
  ASSERT_THAT(pair.a.found, SizeIs(1));
  EXPECT_EQ(pair.a.found[0].verdict.trust, CableTrust::kDirect);
  EXPECT_THAT(pair.a.found[0].verdict.reason, HasSubstr("node n2 stands still"));
  EXPECT_LE(pair.a.found[0].at - stopped_at, 330ms);
  pair.run_for(2s);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  EXPECT_EQ(pair.a.found[1].verdict.trust, CableTrust::kAll);
  EXPECT_THAT(pair.b.found, IsEmpty());
}

TEST(PulsesTest, ACableThatBecomesSilentWhileTheNodeStandsStillIsFound) {
  PulsePair pair;
  pair.run_for(3s);
  pair.stop(pair.b, 10s);
  pair.run_for(2s);
  pair.b.cut = true;
  pair.run_for(500ms);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  EXPECT_EQ(pair.a.found[1].verdict.trust, CableTrust::kNone);
}

TEST(PulsesTest, WithoutAnswersOfTheKernelAStoppedNodeIsASilentCable) {
  PulsePair pair;
  pair.a.kernels_answer = false;
  pair.run_for(3s);
  pair.stop(pair.b, 10s);
  pair.run_for(1s);
  ASSERT_THAT(pair.a.found, SizeIs(1));
  EXPECT_EQ(pair.a.found[0].verdict.trust, CableTrust::kNone);
}

TEST(PulsesTest, ACableThatLosesFivePercentIsReportedByTheEndThatMissesThem) {
  PulsePair pair;
  pair.b.loss_in_million = 50'000;
  pair.run_for(25s);
  ASSERT_THAT(pair.a.losses, SizeIs(1));
  EXPECT_NEAR(pair.a.losses[0], 5, 2);
  EXPECT_THAT(pair.b.losses, IsEmpty());
  EXPECT_THAT(pair.a.found, IsEmpty()) << "it is not silent";
  pair.b.loss_in_million = 0;
  pair.run_for(80s);
  EXPECT_TRUE(std::is_sorted(pair.a.losses.rbegin(), pair.a.losses.rend()));
  EXPECT_EQ(pair.a.losses.back(), 0U);
}

TEST(PulsesTest, SilenceAndPulsesThatWereNeverSentAreNoLoss) {
  PulsePair pair;
  for (int time = 0; time < 20; ++time) {
    pair.run_for(4s);
    pair.b.refuses = time % 2 == 0;
    pair.cut_both(time % 2 != 0);
    pair.run_for(2s);
    pair.b.refuses = false;
    pair.cut_both(false);
  }
  EXPECT_THAT(pair.a.losses, IsEmpty());
  EXPECT_THAT(pair.b.losses, IsEmpty());
}

// Its kernel keeps the first 270 pulses of that time, the others are lost.
TEST(PulsesTest, WhatAStoppedHostMissesIsNoLoss) {
  PulsePair pair;
  for (int time = 0; time < 5; ++time) {
    pair.run_for(5s);
    pair.stop(pair.a, 10s);
    pair.run_for(10s);
    auto& arriving = pair.a.arriving;
    if (arriving.size() > 270) arriving.erase(arriving.begin() + 270, arriving.end());
  }
  pair.run_for(15s);
  EXPECT_THAT(pair.a.losses, IsEmpty());
}

TEST(PulsesTest, ALossyCableThatIsForgottenIsReportedAsGood) {
  PulsePair pair;
  pair.b.loss_in_million = 100'000;
  pair.run_for(15s);
  ASSERT_THAT(pair.a.losses, SizeIs(1));
  pair.lose_cable();
  pair.now = pair.now + 61s;
  pair.find_cable();
  pair.run_for(100ms);
  pair.a.pulses.set_cables({}, pair.now);
  pair.now = pair.now + 61s;
  pair.a.pulses.set_cables({}, pair.now);
  ASSERT_THAT(pair.a.losses, SizeIs(2));
  EXPECT_EQ(pair.a.losses[1], 0U);
}

TEST(PulsesTest, ANeighbourThatHasNeverPulsedIsNotJudged) {
  PulsePair pair;
  pair.b.cut = true;
  pair.run_for(10s);
  EXPECT_THAT(pair.a.found, IsEmpty());
}

TEST(PulsesTest, ANodeThatHasEndedIsNotJudged) {
  PulsePair pair;
  pair.run_for(3s);
  pair.b.cut = true;
  pair.run_for(15ms);
  pair.a.pulses.refused(pair.a.cable.name, pair.now);
  pair.run_for(10s);
  EXPECT_THAT(pair.a.found, IsEmpty());
}

TEST(PulsesTest, ANodeThatEndsWhileItsCableIsDistrustedFreesIt) {
  PulsePair pair;
  pair.run_for(3s);
  pair.stop(pair.b, 1h);
  pair.run_for(1s);
  pair.a.pulses.refused(pair.a.cable.name, pair.now);
  pair.run_for(100ms);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  EXPECT_EQ(pair.a.found[1].verdict, (CableVerdict{CableTrust::kAll, "node n2 has ended"}));
}

// Whether a cut cable is found although such pulses arrive, each with a counter of its own unless it is a copy.
bool is_cut_found(const std::function<void(Pulse&)>& change, bool counts) {
  PulsePair pair;
  pair.run_for(3s);
  Pulse pulse = *decode_pulse(std::span(pair.b.last_sent).first(kPulseBytes));
  pulse.large = true;
  change(pulse);
  pair.cut_both(true);
  for (int i = 0; i < 20; ++i) {
    if (counts) ++pulse.counter;
    std::vector<std::byte> bytes;
    encode_pulse(pulse, NoSeal(), bytes);
    pair.a.pulses.receive(pair.a.cable.name, bytes, kLargePulseBytes, pair.now);
    pair.run_for(5ms);
  }
  return !pair.a.found.empty();
}

TEST(PulsesTest, OnlyNewPulsesOfTheCableCount) {
  EXPECT_FALSE(is_cut_found([](Pulse& /*pulse*/) {}, true)) << "as if the neighbour had sent it";
  EXPECT_TRUE(is_cut_found([](Pulse& /*pulse*/) {}, false)) << "a copy";
  EXPECT_TRUE(is_cut_found([](Pulse& pulse) { ++pulse.boot_nonce; }, true));
  EXPECT_TRUE(is_cut_found([](Pulse& pulse) { ++pulse.to.port; }, true));
  EXPECT_TRUE(is_cut_found([](Pulse& pulse) { ++pulse.to.node.value; }, true));
  EXPECT_TRUE(is_cut_found([](Pulse& pulse) { ++pulse.from.port; }, true));
  EXPECT_TRUE(is_cut_found([](Pulse& pulse) { ++pulse.from.node.value; }, true));
}

TEST(PulsesTest, ARefusalEndsNoJudgementWhilePulsesArriveAndFreesNoSilentCable) {
  PulsePair pair;
  pair.run_for(3s);
  pair.a.pulses.refused(pair.a.cable.name, pair.now);
  pair.cut_both(true);
  pair.run_for(100ms);
  ASSERT_THAT(pair.a.found, SizeIs(1));
  pair.a.pulses.refused(pair.a.cable.name, pair.now);
  pair.run_for(100ms);
  EXPECT_THAT(pair.a.found, SizeIs(1));
}

TEST(PulsesTest, ACableThatProvesItselfIsReportedAndSoIsItsNextSilence) {
  PulsePair pair;
  pair.run_for(3s);
  pair.cut_both_for(100ms);
  const Instant mended_at = pair.now;
  pair.run_for(100ms);
  ASSERT_THAT(pair.a.proving, SizeIs(1));
  EXPECT_EQ(pair.a.proving[0].verdict.trust, CableTrust::kNone);
  EXPECT_LE(pair.a.proving[0].at - mended_at, 30ms);
  pair.cut_both(true);
  pair.run_for(500ms);
  ASSERT_THAT(pair.a.found, SizeIs(2));
  EXPECT_EQ(pair.a.found[1].verdict.trust, CableTrust::kNone);
  pair.cut_both(false);
  pair.run_for(300ms);
  EXPECT_THAT(pair.a.proving, SizeIs(2));
  EXPECT_EQ(pair.a.found.back().verdict.trust, CableTrust::kAll);
}

TEST(PulsesTest, ShortStallsOfANodeAreLearned) {
  PulsePair pair;
  Instant next_stall = pair.now + 1s;
  pair.run_for(60s, [&](const PulsingHost& host) -> Duration {
    if (&host != &pair.b || pair.now < next_stall) return 100us;
    next_stall = pair.now + 1s;
    return 150ms;
  });
  EXPECT_LE(pair.a.found.size(), 2U) << "one verdict, and its end";
}

TEST(PulsesTest, AHostThatStoodStillFindsNoCableSilentWhilePulsesWaitToBeRead) {
  PulsePair pair;
  pair.run_for(3s);
  pair.stop(pair.a, 8s);
  pair.run_for(10s);
  EXPECT_THAT(pair.a.found, IsEmpty());
}

TEST(PulsesTest, SignsCountWhateverTheIntervals) {
  for (const auto& [own, other] : {std::pair(50ms, 10ms), std::pair(10ms, 50ms), std::pair(100ms, 100ms)}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      PulsePair pair(seed, own, other);
      pair.run_for(3s);
      pair.stop(pair.b, 45ms);
      pair.run_for(500ms);
      EXPECT_THAT(pair.a.found, IsEmpty()) << seed;
      pair.stop(pair.b, 3s);
      pair.run_for(2s);
      ASSERT_THAT(pair.a.found, SizeIs(1)) << seed;
      EXPECT_EQ(pair.a.found[0].verdict.trust, CableTrust::kDirect) << seed;
    }
  }
}

// As when a virtual machine is paused: datagrams of that time are lost, and set_cables() is called before the first
// tick.
TEST(PulsesTest, APausedHostFindsNoCableSilent) {
  PulsePair pair;
  pair.a.kernels_answer = false;
  pair.run_for(3s);
  pair.stop(pair.a, 2s);
  pair.run_for(2s);
  pair.a.arriving.clear();
  pair.find_cable_at(pair.a);
  pair.run_for(1s);
  EXPECT_THAT(pair.a.found, IsEmpty());
}

TEST(PulsesTest, AHostThatIsAlwaysLateFindsACutLaterByThat) {
  PulsePair pair;
  const auto late = [](const PulsingHost& /*host*/) -> Duration { return 50ms; };
  pair.run_for(5s, late);
  EXPECT_THAT(pair.a.found, IsEmpty());
  const Instant cut_at = pair.now;
  pair.cut_both(true);
  pair.run_for(2s, late);
  ASSERT_THAT(pair.a.found, SizeIs(1));
  EXPECT_LE(pair.a.found[0].at - cut_at, 400ms);
}

// As on a wire of two bridge ports of which each loses a fifth.
TEST(PulsesTest, RandomLossIsNoSilence) {
  PulsePair pair;
  pair.a.loss_in_million = pair.b.loss_in_million = 360'000;
  pair.a.kernels_answer = pair.b.kernels_answer = false;
  pair.run_for(10min);
  EXPECT_THAT(pair.a.found, IsEmpty());
  EXPECT_THAT(pair.b.found, IsEmpty());
  const Instant cut_at = pair.now;
  pair.cut_both(true);
  pair.run_for(2s);
  ASSERT_THAT(pair.a.found, SizeIs(1));
  EXPECT_LE(pair.a.found[0].at - cut_at, 650ms);
}

// Hours, one in each test, with what schedulers do: small delays, stalls of up to 60 ms every few seconds, of
// up to 3 s of a node (its host answers) every few minutes; and one packet in a thousand lost.
class PulsesHourTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(PulsesHourTest, NoCableIsSilentForStallsAndLosses) {
  PulsePair pair(GetParam());
  pair.a.loss_in_million = pair.b.loss_in_million = 1000;
  std::size_t long_stalls = 0;
  const auto late = [&](const PulsingHost& /*host*/) -> Duration {
    const std::uint64_t chance = pair.random() % 20'000;
    if (chance == 0) {
      ++long_stalls;
      return Duration(pair.random() % 3'000'000'000);
    }
    if (chance < 50) return Duration(pair.random() % 60'000'000);
    if (chance < 2'000) return Duration(pair.random() % 4'000'000);
    return Duration(pair.random() % 200'000);
  };
  pair.run_for(1h, late);
  EXPECT_GT(long_stalls, 10U);
  for (const PulsingHost* host : {&pair.a, &pair.b}) {
    std::size_t stopped = 0;
    for (const PulsingHost::Found& found : host->found) {
      EXPECT_NE(found.verdict.trust, CableTrust::kNone) << found.verdict.reason;
      if (found.verdict.trust == CableTrust::kDirect) ++stopped;
    }
    EXPECT_LE(stopped, long_stalls);
  }
  // The same two hosts still find a cut.
  pair.run_for(30s);
  pair.cut_both(true);
  pair.run_for(500ms);
  for (const PulsingHost* host : {&pair.a, &pair.b}) {
    ASSERT_FALSE(host->found.empty());
    EXPECT_EQ(host->found.back().verdict.trust, CableTrust::kNone);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PulsesHourTest, ::testing::Range<std::uint64_t>(1, test::kSlowBuild ? 3 : 9));

}  // namespace
}  // namespace cableway
