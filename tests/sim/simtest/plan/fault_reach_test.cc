#include "sim/simtest/plan/fault_reach.h"

#include <gtest/gtest.h>

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

// A line of three nodes, and a switch with the first and the last.
SimtestPlan line_and_switch() {
  SimtestPlan plan;
  plan.shape.nodes = 3;
  plan.shape.cables = {{0, 1, ""}, {1, 2, ""}};
  plan.shape.switch_members = {0, 2};
  return plan;
}

Fault fault_of(FaultKind kind, std::uint32_t target, std::uint64_t amount = 0) {
  return {kind, milliseconds(100), milliseconds(50), target, amount};
}

TEST(FaultReach, IsACablesOwnItsNodesAndPartitions) {
  const SimtestPlan plan = line_and_switch();
  EXPECT_TRUE(touches(plan, fault_of(FaultKind::kSilence, 1), 1));
  EXPECT_FALSE(touches(plan, fault_of(FaultKind::kSilence, 1), 0));
  EXPECT_TRUE(touches(plan, fault_of(FaultKind::kStop, 2), 1));
  EXPECT_TRUE(touches(plan, fault_of(FaultKind::kStop, 2), 2));
  EXPECT_FALSE(touches(plan, fault_of(FaultKind::kStop, 2), 0));
  EXPECT_TRUE(touches(plan, fault_of(FaultKind::kPartition, 0, 0b100), 1));
  EXPECT_FALSE(touches(plan, fault_of(FaultKind::kPartition, 0, 0b100), 0));
  EXPECT_FALSE(touches(plan, fault_of(FaultKind::kKill, 0), 0));
  // Targets wrap around.
  EXPECT_TRUE(touches(plan, fault_of(FaultKind::kSilence, 4), 1));
}

TEST(FaultReach, IsAtWorkFromItsBeginToItsEnd) {
  Fault fault = fault_of(FaultKind::kSilence, 0);
  const auto at = [](int ms) { return Instant{milliseconds(ms)}; };
  EXPECT_FALSE(is_at_work(fault, at(0), at(99)));
  EXPECT_TRUE(is_at_work(fault, at(0), at(100)));
  EXPECT_TRUE(is_at_work(fault, at(150), at(200)));
  EXPECT_FALSE(is_at_work(fault, at(151), at(200)));
  fault.lasts = Duration{0};
  EXPECT_TRUE(is_at_work(fault, at(10'000), at(20'000)));
}

TEST(FaultReach, AnAdversaryMayHurtForFiveSecondsMore) {
  Fault fault = fault_of(FaultKind::kHold, 0);
  const auto at = [](int ms) { return Instant{milliseconds(ms)}; };
  EXPECT_FALSE(acts_or_acted(fault, at(99)));
  EXPECT_TRUE(acts_or_acted(fault, at(100)));
  EXPECT_TRUE(acts_or_acted(fault, at(5149)));
  EXPECT_FALSE(acts_or_acted(fault, at(5150)));
  fault.lasts = Duration{0};
  EXPECT_TRUE(acts_or_acted(fault, at(60'000)));
}

TEST(FaultReach, NotEveryFaultExplainsAVerdict) {
  EXPECT_TRUE(may_stop_pulses(fault_of(FaultKind::kSilence, 0, 1)));
  EXPECT_TRUE(may_stop_pulses(fault_of(FaultKind::kDelay, 0, 60'000)));
  EXPECT_FALSE(may_stop_pulses(fault_of(FaultKind::kDelay, 0, 5'000)));
  EXPECT_FALSE(may_stop_pulses(fault_of(FaultKind::kSlow, 0, 3'000)));
  EXPECT_FALSE(may_stop_pulses(fault_of(FaultKind::kCrash, 0)));
  EXPECT_TRUE(disturbs_pulses(fault_of(FaultKind::kCrash, 0)));
}

}  // namespace
}  // namespace cableway::sim
