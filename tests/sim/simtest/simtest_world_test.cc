#include <gtest/gtest.h>

#include <memory>
#include <string>
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

// What one flow over a cable of 1 MB/s has carried after three seconds.
std::uint64_t carried_with(const std::string& faults) {
  SimtestPlan plan;
  plan.shape.nodes = 2;
  plan.shape.cables = {{0, 1, ""}};
  plan.bytes_per_second = 1'000'000;
  plan.ends = milliseconds(3500);
  FlowPlan flow;
  flow.destination = 1;
  flow.begins = milliseconds(500);
  flow.in_flight = 4;
  flow.chunk_bytes = 4096;
  flow.messages.assign(1000, MessagePlan{4096, 4096, {}, {}});
  plan.flows.push_back(flow);
  plan.faults = *parse_fault_plan(faults);
  const SimtestResult result = run_simtest(plan);
  EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
  return result.bytes;
}

TEST(Simtest, ACableCarriesLessWhileItsRateIsChangedAndAsBeforeAfterwards) {
  const std::uint64_t usual = carried_with("none");
  EXPECT_GT(usual, 2'700'000U);
  EXPECT_LT(usual, 3'000'000U);
  // A second at a tenth: nine tenths of its bytes are missing.
  const std::uint64_t slower = carried_with("rate@1500+1000:0:1003");
  EXPECT_GT(slower, usual - 920'000U);
  EXPECT_LT(slower, usual - 830'000U);
  EXPECT_EQ(carried_with("rate@1500+1000:0:1001"), slower);
  // The other way there are frames without payload only.
  EXPECT_GT(carried_with("rate@1500+1000:0:1002"), usual - 300'000U);
  EXPECT_GT(carried_with("rate@1500+1000:0:20003"), usual + 900'000U);
  // Two at once.
  EXPECT_LT(carried_with("rate@1500+1000:0:1001,rate@1500+1000:0:5001"), usual - 920'000U);
}

}  // namespace
}  // namespace cableway::sim
