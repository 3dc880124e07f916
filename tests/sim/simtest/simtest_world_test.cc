#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/simtest/drifting_clock.h"
#include "sim/simtest/plan/fault.h"
#include "sim/simtest/plan/simtest_random.h"
#include "sim/simtest/plan/soak_plan.h"
#include "sim/simtest/simtest_run.h"
#include "sim/virtual_clock.h"

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

// The first numbers of SplitMix64 seeded with 1234567, from its authors' implementation.
TEST(SimtestRandom, MatchesTheReferenceImplementation) {
  SimtestRandom random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
  EXPECT_EQ(random.next(), 9817491932198370423ULL);
}

TEST(DriftingClock, DriftsAndNeverFiresEarly) {
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

TEST(Simtest, IsDeterministicForASeed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const SimtestPlan plan = make_simtest_plan(seed);
    EXPECT_EQ(run_simtest(plan).trace, run_simtest(plan).trace);
  }
}

TEST(Simtest, DiffersBetweenSeeds) {
  EXPECT_NE(run_simtest(make_simtest_plan(1)).trace, run_simtest(make_simtest_plan(2)).trace);
}

TEST(Simtest, LosesNoMessageWithoutFaults) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimtestPlan plan = make_simtest_plan(seed);
    plan.faults.clear();
    for (FlowPlan& flow : plan.flows) {
      for (MessagePlan& message : flow.messages) message.capacity = std::max(message.capacity, message.bytes);
    }
    plan.shape.draining.clear();
    const SimtestResult result = run_simtest(plan);
    EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
    EXPECT_EQ(result.done, result.messages) << "seed " << seed;
  }
}

TEST(Simtest, BusyHostsAtFullLoadFindNoCableSilent) {
  const SimtestResult result = run_simtest(make_soak_plan(1, std::chrono::seconds(30)));
  EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
  EXPECT_EQ(result.silent + result.still, 0U);
  EXPECT_GT(result.pulses, 25'000U);
  EXPECT_GT(result.least_use, 950U);
  EXPECT_GT(result.latest_pulse, Duration(milliseconds(40)));
}

TEST(Simtest, CountsFaultsAndCuts) {
  SimtestPlan plan = make_soak_plan(2, std::chrono::seconds(20));
  plan.faults = *parse_fault_plan("cut@5000+100:0:1,silence@7000+500:1:3,flap@9000+1000:2:100000");
  const SimtestResult result = run_simtest(plan);
  EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
  EXPECT_EQ(result.faults[static_cast<std::size_t>(FaultKind::kCut)], 1U);
  EXPECT_EQ(result.faults[static_cast<std::size_t>(FaultKind::kFlap)], 1U);
  EXPECT_EQ(result.cuts, 7U);  // five of them by the flap
  EXPECT_EQ(result.silent, 2U);
  EXPECT_GT(result.bytes, 0U);
}

}  // namespace
}  // namespace cableway::sim
