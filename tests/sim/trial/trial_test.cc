#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/trial/drifting_clock.h"
#include "sim/trial/trial_random.h"
#include "sim/trial/trial_run.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

// The first numbers of SplitMix64 from 1234567, as its authors' implementation gives them.
TEST(TrialRandom, GivesTheNumbersOfItsPaper) {
  TrialRandom random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
  EXPECT_EQ(random.next(), 9817491932198370423ULL);
}

TEST(DriftingClock, GainsAndRingsNeverTooSoon) {
  for (const std::int64_t gains : {-500'000, -1000, 0, 333, 50'000, 500'000}) {
    VirtualClock world;
    DriftingClock clock(world, gains);
    std::vector<std::unique_ptr<Timer>> timers;
    int rung = 0;
    for (int ms = 1; ms <= 100; ++ms) {
      const Instant when{milliseconds(ms) + Duration(ms)};
      timers.push_back(clock.call_at(when, [&clock, &rung, when] {
        ++rung;
        EXPECT_GE(clock.now(), when);
        EXPECT_LT(clock.now() - when, Duration(5));
      }));
    }
    world.run_for(std::chrono::seconds(1));
    EXPECT_EQ(rung, 100);
    EXPECT_EQ(clock.now(), Instant{Duration(1'000'000'000 + 1000 * gains)});
  }
}

TEST(Trial, OfOneSeedIsTheSameEveryTime) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const TrialPlan plan = make_trial_plan(seed);
    EXPECT_EQ(run_trial(plan).trace, run_trial(plan).trace);
  }
}

TEST(Trial, OfAnotherSeedIsAnother) {
  EXPECT_NE(run_trial(make_trial_plan(1)).trace, run_trial(make_trial_plan(2)).trace);
}

TEST(Trial, WhereNothingGoesWrongLosesNoMessage) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    TrialPlan plan = make_trial_plan(seed);
    plan.faults.clear();
    for (FlowPlan& flow : plan.flows) {
      for (MessagePlan& message : flow.messages) message.capacity = std::max(message.capacity, message.bytes);
    }
    plan.shape.draining.clear();
    const TrialResult result = run_trial(plan);
    EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
    EXPECT_EQ(result.done, result.messages) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cableway::sim
