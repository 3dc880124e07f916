// How soon a silence is found where pulses were late before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/pulse/pulse_pair.h"

namespace cableway {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// As where a flow starts: the pulses behind its first data are late, and none is lost.
TEST(LatePulsesTest, ASilenceAfterPulsesThatWereLateIsFoundSooner) {
  PulsePair pair;
  pair.run_for(3s);
  pair.a.queued = pair.b.queued = 15ms;
  pair.run_for(3s);
  EXPECT_THAT(pair.a.found, IsEmpty());
  const Instant cut_at = pair.now;
  pair.cut_both(true);
  pair.run_for(200ms);
  for (const PulsingHost* host : {&pair.a, &pair.b}) {
    ASSERT_THAT(host->found, SizeIs(1));
    EXPECT_LE(host->found[0].at - cut_at, 15ms + 50ms);
  }
}

// The first look after a while cannot tell when the packets arrived that it finds. If it counted, the verdict would
// come 35 ms after it, 57.5 ms after the last pulse. The second look counts, 24.5 ms after a pulse: the limit is then
// that and two intervals.
TEST(LatePulsesTest, ASignOfBeforeTheSilenceDelaysNoVerdict) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    PulsePair pair(seed);
    pair.run_for(3s);
    pair.b.refuses = true;
    pair.run_for(20ms);
    pair.b.refuses = false;
    pair.run_for(60ms);
    EXPECT_GT(pair.a.looks, 0U);
    const Instant cut_at = pair.now;
    pair.b.cut = true;
    pair.run_for(100ms);
    ASSERT_THAT(pair.a.found, SizeIs(1)) << seed;
    EXPECT_LE(pair.a.found[0].at - cut_at, 46ms) << seed;
  }
}

// The queue fills at once, but other packets arrive: such a gap is no silence and must not raise the limit.
TEST(LatePulsesTest, ALongGapInWhichDataArrivedDelaysNoVerdict) {
  PulsePair pair;
  pair.run_for(3s);
  pair.a.queued = pair.b.queued = 150ms;
  pair.run_for(3s);
  EXPECT_THAT(pair.a.found, IsEmpty());
  EXPECT_THAT(pair.b.found, IsEmpty());
  const Instant cut_at = pair.now;
  pair.a.arriving.clear();
  pair.b.arriving.clear();
  pair.cut_both(true);
  pair.run_for(300ms);
  for (const PulsingHost* host : {&pair.a, &pair.b}) {
    ASSERT_THAT(host->found, SizeIs(1));
    EXPECT_LE(host->found[0].at - cut_at, 50ms);
  }
}

// Nothing but pulses shows that the other end lives, and each pause is longer than those before it.
TEST(LatePulsesTest, PausesThatGrowAreNoSilence) {
  PulsePair pair;
  pair.a.kernels_answer = pair.b.kernels_answer = false;
  pair.run_for(3s);
  for (Duration queued{20ms}; queued < 150ms; queued = queued + 20ms) {
    pair.a.queued = pair.b.queued = queued;
    pair.run_for(1s);
    pair.a.queued = pair.b.queued = Duration{0};
    pair.run_for(1s);
  }
  EXPECT_THAT(pair.a.found, IsEmpty());
  EXPECT_THAT(pair.b.found, IsEmpty());
}

// A node that is starved, but not for long enough to stand still.
TEST(LatePulsesTest, SignsAreLookedForLessAndLessOften) {
  PulsePair pair;
  pair.run_for(3s);
  pair.stop(pair.b, 290ms);
  pair.run_for(400ms);
  EXPECT_THAT(pair.a.found, IsEmpty());
  EXPECT_GE(pair.a.looks, 20U);
  EXPECT_LE(pair.a.looks, 50U);
}

}  // namespace
}  // namespace cableway
