// Simulation tests with RDMA hops.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/simtest/simtest_run.h"

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

struct PortCount {
  std::size_t ports = 0;
  std::size_t with_rdma = 0;
};

PortCount count_ports(const ShapePlan& shape) {
  PortCount count;
  for (const CablePlan& cable : shape.cables) {
    count.ports += 2;
    count.with_rdma += (cable.rdma_at_a ? 1 : 0) + (cable.rdma_at_b ? 1 : 0);
  }
  return count;
}

TEST(RdmaPlan, HalfOfTheWorldsHaveRdmaManyOnlyPartially) {
  std::size_t none = 0;
  std::size_t mixed = 0;
  std::size_t all = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const PortCount count = count_ports(make_simtest_plan(seed).shape);
    ++(count.with_rdma == 0 ? none : count.with_rdma < count.ports ? mixed : all);
  }
  EXPECT_GT(none, 900U);
  EXPECT_GT(mixed, 250U);
  EXPECT_GT(all, 500U);
}

// A line of `nodes` nodes, and two flows between its ends, one in each direction.
SimtestPlan line(std::uint32_t nodes) {
  SimtestPlan plan;
  plan.seed = 7;
  plan.shape.nodes = nodes;
  for (std::uint32_t i = 0; i + 1 < nodes; ++i)
    plan.shape.cables.push_back(CablePlan{.a = i, .b = i + 1, .plug = "", .rdma_at_a = true, .rdma_at_b = true});
  for (const bool back : {false, true}) {
    FlowPlan flow;
    flow.source = back ? nodes - 1 : 0;
    flow.destination = back ? 0 : nodes - 1;
    flow.begins = milliseconds(1500);
    flow.in_flight = 8;
    flow.chunk_bytes = 4096;
    flow.messages.assign(40, MessagePlan{50'000, 50'000});
    plan.flows.push_back(flow);
  }
  return plan;
}

void expect_all_done(const SimtestPlan& plan, std::uint64_t rdma_hops) {
  const SimtestResult result = run_simtest(plan);
  EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
  EXPECT_EQ(result.done, result.messages);
  EXPECT_EQ(result.circuits, plan.flows.size());
  EXPECT_EQ(result.rdma_hops, rdma_hops);
}

TEST(RdmaSimtest, HopsUseRdmaIfBothPortsHaveIt) {
  expect_all_done(line(2), 2);
  expect_all_done(line(4), 6);
}

TEST(RdmaSimtest, HopsUseTcpIfOnePortHasNoRdma) {
  for (const bool at_a : {false, true}) {
    SimtestPlan plan = line(4);
    (at_a ? plan.shape.cables[1].rdma_at_a : plan.shape.cables[1].rdma_at_b) = false;
    expect_all_done(plan, 4);
  }
}

TEST(RdmaSimtest, LagAndSingleSlotsSlowItDownWithoutBlocking) {
  SimtestPlan plan = line(4);
  plan.rdma.max_lag = milliseconds(20);
  plan.rdma.leases = 0;
  plan.slot_bytes = 4096;
  expect_all_done(plan, 6);
}

TEST(RdmaSimtest, WorksAcrossASwitch) {
  SimtestPlan plan = line(2);
  plan.shape.cables.clear();
  plan.shape.switch_members = {0, 1};
  plan.shape.rdma_at_switch = true;
  expect_all_done(plan, 2);
}

// Both flows are active when the cable in the middle is silent for 800 ms.
SimtestPlan silenced_line(Duration patience) {
  SimtestPlan plan = line(4);
  plan.rdma.gives_up_after = patience;
  plan.rdma.max_late_writes = 64;
  plan.rdma.max_lag = milliseconds(2);
  for (FlowPlan& flow : plan.flows) {
    for (MessagePlan& message : flow.messages) message.source_waits = milliseconds(20);
  }
  plan.faults = *parse_fault_plan("silence@1800+800:1:3");
  return plan;
}

TEST(RdmaSimtest, ASilenceBeyondTheRetryLimitEndsCircuitsWithoutBreakingARule) {
  SimtestPlan plan = silenced_line(milliseconds(500));
  plan.path_wait = milliseconds(0);
  const SimtestResult result = run_simtest(plan);
  EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
  EXPECT_GT(result.failed, 0U);
  EXPECT_GT(result.done, 0U);
  EXPECT_GT(result.circuits, plan.flows.size());
}

TEST(RdmaSimtest, FlowsThatWaitForAPathLoseNothingToASilenceBeyondTheRetryLimit) {
  const SimtestPlan plan = silenced_line(milliseconds(500));
  const SimtestResult result = run_simtest(plan);
  EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
  EXPECT_EQ(result.done, result.messages);
  EXPECT_GT(result.circuits, plan.flows.size());
}

TEST(RdmaSimtest, ASilenceWithinTheRetryLimitEndsNothing) {
  expect_all_done(silenced_line(milliseconds(1500)), 6);
}

TEST(RdmaSimtest, IsDeterministicForASeed) {
  SimtestPlan plan = silenced_line(milliseconds(500));
  plan.faults = *parse_fault_plan("late_send@1500+500:0:5000,kill@1700+100:0:0,cut@1900+300:2:1");
  const SimtestResult result = run_simtest(plan);
  EXPECT_FALSE(result.broken.has_value()) << result.broken->what;
  EXPECT_GT(result.failed, 0U);
  EXPECT_EQ(result.trace, run_simtest(plan).trace);
  plan.rdma.max_lag = milliseconds(3);
  EXPECT_NE(result.trace, run_simtest(plan).trace);
}

}  // namespace
}  // namespace cableway::sim
