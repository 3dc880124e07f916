#include "sim/simtest/plan/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/simtest/plan/simtest_plan.h"

namespace cableway::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(FaultPlan, RoundTrips) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const FaultPlan plan = make_simtest_plan(seed).faults;
    const absl::StatusOr<FaultPlan> read = parse_fault_plan(to_text(plan));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, plan) << to_text(plan);
  }
}

// In a quarter of the worlds, without which seeds would be the same.
TEST(FaultPlan, SomeWorldsLoseLargePackets) {
  std::size_t worlds = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const FaultPlan plan = make_simtest_plan(seed).faults;
    const bool loses =
        std::any_of(plan.begin(), plan.end(), [](const Fault& each) { return each.kind == FaultKind::kLarge; });
    worlds += loses ? 1 : 0;
  }
  EXPECT_GT(worlds, 60U);
  EXPECT_LT(worlds, 140U);
}

// In a quarter of the worlds, and pulses in four of ten; without them seeds would be the same.
TEST(FaultPlan, SomeWorldsDrainCablesAndSomeHavePulses) {
  std::size_t drains = 0;
  std::size_t pulses = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const SimtestPlan plan = make_simtest_plan(seed);
    const bool any = std::any_of(plan.faults.begin(), plan.faults.end(),
                                 [](const Fault& each) { return each.kind == FaultKind::kDrainCable; });
    drains += any ? 1 : 0;
    pulses += plan.pulse > milliseconds(0) ? 1 : 0;
  }
  EXPECT_GT(drains, 60U);
  EXPECT_LT(drains, 140U);
  EXPECT_GT(pulses, 120U);
  EXPECT_LT(pulses, 200U);
}

// In an eighth of the worlds, and in some of these nothing else is wrong: only there rule 12 binds.
TEST(FaultPlan, SomeWorldsHaveInsiders) {
  std::size_t worlds = 0;
  std::size_t alone = 0;
  std::size_t alone_with_key = 0;
  std::uint64_t kinds = 0;
  const auto lies = [](const Fault& each) { return each.kind == FaultKind::kLie; };
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    const SimtestPlan world = make_simtest_plan(seed);
    const FaultPlan& plan = world.faults;
    if (std::none_of(plan.begin(), plan.end(), lies)) continue;
    ++worlds;
    if (std::all_of(plan.begin(), plan.end(), lies)) {
      ++alone;
      alone_with_key += world.sealed ? 1 : 0;
    }
    for (const Fault& fault : plan) {
      if (lies(fault)) kinds |= Lies(fault.amount).kinds;
    }
  }
  EXPECT_GT(worlds, 70U);
  EXPECT_LT(worlds, 140U);
  EXPECT_GT(alone, 15U);
  EXPECT_GT(alone_with_key, 5U);
  EXPECT_LT(alone_with_key, alone - 5);
  EXPECT_EQ(kinds, Lies::kKinds - 1);
}

TEST(Lies, HaveKindsAndATimeBetweenThem) {
  const Lies lies(Lies::amount(Lies::kClaim | Lies::kSecondCable, 3000));
  EXPECT_TRUE(lies.has(Lies::kClaim));
  EXPECT_TRUE(lies.has(Lies::kSecondCable));
  EXPECT_FALSE(lies.has(Lies::kForge));
  EXPECT_EQ(lies.every(), Duration(milliseconds(3)));
  EXPECT_GT(Lies(0).every(), Duration{0});
}

// In a quarter of the worlds, of one direction or both, to less or to more.
TEST(FaultPlan, SomeWorldsChangeTheRateOfCables) {
  std::size_t worlds = 0;
  std::size_t one_way = 0;
  std::size_t faster = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::size_t changes = 0;
    for (const Fault& fault : make_simtest_plan(seed).faults) {
      if (fault.kind != FaultKind::kRate) continue;
      ++changes;
      EXPECT_GT(fault.lasts, Duration{0});
      const RateChange change(fault.amount);
      EXPECT_EQ(RateChange::amount(change.per_mille, change.ends), fault.amount);
      EXPECT_GE(change.ends, 1U);
      EXPECT_LE(change.ends, 3U);
      one_way += change.ends == 3 ? 0 : 1;
      faster += change.per_mille > 1000 ? 1 : 0;
    }
    worlds += changes > 0 ? 1 : 0;
  }
  EXPECT_GT(worlds, 60U);
  EXPECT_LT(worlds, 140U);
  EXPECT_GT(one_way, 40U);
  EXPECT_GT(faster, 20U);
}

// In a third of the worlds with a party without the key nothing else is wrong: only there rule 13 binds.
TEST(FaultPlan, SomeWorldsHaveOnlyOutsiders) {
  std::size_t alone = 0;
  std::size_t alone_holding = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    const SimtestPlan world = make_simtest_plan(seed);
    const FaultPlan& plan = world.faults;
    const auto holds = [](const Fault& each) { return each.kind == FaultKind::kHold; };
    const auto is_outsider = [&](const Fault& each) { return each.kind == FaultKind::kReplay || holds(each); };
    if (plan.empty() || !std::all_of(plan.begin(), plan.end(), is_outsider)) continue;
    EXPECT_TRUE(world.sealed);
    ++alone;
    alone_holding += std::any_of(plan.begin(), plan.end(), holds) ? 1 : 0;
  }
  EXPECT_GT(alone, 20U);
  EXPECT_GT(alone_holding, 5U);
  EXPECT_LT(alone_holding, alone - 5);
}

TEST(Holding, HasAPortAnOrderAndATime) {
  const Holding in_order(Holding::kWays * 250 + 1);
  EXPECT_EQ(in_order.end, 1U);
  EXPECT_TRUE(in_order.in_order);
  EXPECT_EQ(in_order.longest(), Duration(milliseconds(250)));
  EXPECT_FALSE(Holding(Holding::kWays * 250 + 2).in_order);
}

// In a fifth of the worlds, which have a key then.
TEST(FaultPlan, SomeWorldsReplayWhatWasSent) {
  std::size_t worlds = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const SimtestPlan plan = make_simtest_plan(seed);
    const bool any = std::any_of(plan.faults.begin(), plan.faults.end(),
                                 [](const Fault& each) { return each.kind == FaultKind::kReplay; });
    worlds += any ? 1 : 0;
    EXPECT_TRUE(plan.sealed || !any);
  }
  EXPECT_GT(worlds, 50U);
  EXPECT_LT(worlds, 120U);
}

TEST(FaultPlan, AmountsOfRateNameWhatIsLeftAndThePorts) {
  const RateChange change(503);
  EXPECT_EQ(change.per_mille, 50U);
  EXPECT_EQ(change.ends, 3U);
  EXPECT_EQ(RateChange(2).per_mille, 1U);  // never nothing
  EXPECT_EQ(RateChange(UINT64_MAX).per_mille, 1'000'000U);
}

TEST(FaultPlan, MostWorldsTestHowFlowsOutliveTheirCircuits) {
  std::size_t worlds = 0;
  std::size_t without_wait = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const SimtestPlan plan = make_simtest_plan(seed);
    worlds += std::any_of(plan.faults.begin(), plan.faults.end(),
                          [](const Fault& each) {
                            return each.kind >= FaultKind::kCutOn && each.kind <= FaultKind::kCutAnswer;
                          })
                  ? 1
                  : 0;
    without_wait += plan.path_wait == Duration{0} ? 1 : 0;
  }
  EXPECT_GT(worlds, 220U);
  EXPECT_LT(worlds, 340U);
  EXPECT_GT(without_wait, 60U);
  EXPECT_LT(without_wait, 140U);
}

TEST(FaultPlan, AmountsOfCutOnNameAFrame) {
  const CutOn first(CutOn::kRetire);
  EXPECT_EQ(first.kind, CutOn::kRetire);
  EXPECT_EQ(first.others, 0U);
  EXPECT_FALSE(first.arrives());
  const CutOn fourth(3 * CutOn::kKinds + CutOn::kSetup);
  EXPECT_EQ(fourth.kind, CutOn::kSetup);
  EXPECT_EQ(fourth.others, 3U);
  EXPECT_TRUE(fourth.arrives());
}

TEST(FaultPlan, IsShort) {
  const FaultPlan plan{{FaultKind::kCut, milliseconds(1500), microseconds(200500), 3, 1},
                       {FaultKind::kDrain, Duration(0), Duration(0), 2, 0}};
  EXPECT_EQ(to_text(plan), "cut@1500+200.5:3:1,drain@0+0:2:0");
  EXPECT_EQ(to_text(FaultPlan{}), "none");
}

TEST(FaultPlan, EveryKindIsDocumented) {
  std::ifstream file(CABLEWAY_SIMTEST_DOC);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("Faults are of " + std::to_string(kFaultKinds) + " kinds"));
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    const std::string name = to_text(static_cast<FaultKind>(kind));
    EXPECT_THAT(text.str(), HasSubstr("`" + name + "`"));
  }
}

TEST(FaultPlan, RefusesInvalidText) {
  for (const char* text :
       {"", "cut", "cut@1:2:3", "cut@1+2", "cut@1+2:3", "cut@x+2:3:4", "cut@1.0000001+2:3:4", "cut@-1+2:3:4",
        "cut@1+2:-3:4", "cut@1+2:3:4:5", "cut@36000001+0:0:0", "cut@1+2:3:4,", "+@:,:", "@+::"}) {
    EXPECT_FALSE(parse_fault_plan(text).ok()) << text;
  }
  EXPECT_THAT(std::string(parse_fault_plan("cut@1+2:3").status().message()), HasSubstr("expected KIND@BEGIN_MS"));
  EXPECT_THAT(std::string(parse_fault_plan("cutt@1+2:3:4").status().message()),
              HasSubstr("expected one of cut, silence"));
}

}  // namespace
}  // namespace cableway::sim
