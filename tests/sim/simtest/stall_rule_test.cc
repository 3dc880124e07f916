#include <gtest/gtest.h>

#include <string>

#include "sim/simtest/plan/lone_cut.h"
#include "sim/simtest/simtest_run.h"

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

// A ring of four; a flow from n0 to n1, whose path is cable 0, with a standby over the other three.
SimtestPlan flow_around_a_ring(const std::string& faults) {
  SimtestPlan plan;
  plan.seed = 1;
  plan.shape.nodes = 4;
  plan.shape.cables = {{0, 1, ""}, {1, 2, ""}, {2, 3, ""}, {0, 3, ""}};
  plan.circuits = 2;
  FlowPlan flow;
  flow.source = 0;
  flow.destination = 1;
  flow.begins = milliseconds(500);
  flow.chunk_bytes = 16384;
  flow.messages.assign(60, MessagePlan{65536, 65536, milliseconds(20), {}});
  plan.flows.push_back(flow);
  plan.faults = *parse_fault_plan(faults);
  return plan;
}

SimtestResult around_a_ring(const std::string& faults) {
  SimtestResult result = run_simtest(flow_around_a_ring(faults));
  EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
  EXPECT_EQ(result.failed, 0U);
  return result;
}

TEST(StallRule, WatchesAFlowThatLosesItsCircuitWithTheCarrier) {
  const SimtestResult result = around_a_ring("cut@1000+500:0:1");
  EXPECT_EQ(result.stalls_checked, 1U);
  EXPECT_LE(result.longest_stall, Duration(milliseconds(20)));
}

TEST(StallRule, DoesNotWatchWhereTheFlowLosesNothingThatCarriesIt) {
  EXPECT_EQ(around_a_ring("cut@1000+500:2:1").stalls_checked, 0U);
}

TEST(StallRule, DoesNotWatchWhereTheLossIsNotReported) {
  EXPECT_EQ(around_a_ring("cut@1000+500:0:0").stalls_checked, 0U);
  SimtestPlan plan = flow_around_a_ring("cut@1000+500:0:0");
  plan.pulse = milliseconds(10);
  EXPECT_EQ(run_simtest(plan).stalls_checked, 1U);
}

TEST(StallRule, DoesNotWatchWithoutAnotherCircuit) {
  SimtestPlan plan = flow_around_a_ring("cut@1000+500:0:1");
  plan.circuits = 1;
  EXPECT_EQ(run_simtest(plan).stalls_checked, 0U);
}

TEST(StallRule, DoesNotWatchBesideOtherFaultsOfItsPaths) {
  EXPECT_EQ(around_a_ring("slow@1100+500:3:1000,cut@1000+500:0:1").stalls_checked, 0U);
  EXPECT_EQ(around_a_ring("rate@1100+500:2:103,cut@1000+500:0:1").stalls_checked, 0U);
  EXPECT_EQ(around_a_ring("false_verdict@1200+10:0:0,cut@1000+500:0:1").stalls_checked, 0U);
  // Over before the cut, but connections may still end because of it.
  EXPECT_EQ(around_a_ring("silence@600+20:1:3,cut@1000+500:0:1").stalls_checked, 0U);
}

TEST(StallRule, DoesNotWatchWhereQueuesAreLong) {
  SimtestPlan plan = flow_around_a_ring("cut@1000+500:0:1");
  plan.bytes_per_second = 500'000;  // 33 ms for each chunk
  EXPECT_EQ(run_simtest(plan).stalls_checked, 0U);
}

// Most checks of the rule happen in such worlds.
TEST(StallRule, SomeSeedsDoNothingButCut) {
  std::size_t worlds = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const SimtestPlan plan = make_simtest_plan(seed);
    const bool lone = !plan.faults.empty() && plan.faults.size() <= 2 && plan.flows.front().messages.size() == 60;
    worlds += lone ? 1 : 0;
    if (!lone) continue;
    EXPECT_GE(plan.circuits, 2U);
    for (const Fault& fault : plan.faults) EXPECT_EQ(fault.kind, FaultKind::kCut);
  }
  EXPECT_GT(worlds, 40U);
  EXPECT_LT(worlds, 85U);
}

}  // namespace
}  // namespace cableway::sim
