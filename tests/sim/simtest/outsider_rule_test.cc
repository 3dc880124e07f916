#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "sim/simtest/simtest_run.h"

namespace cableway::sim {
namespace {

using std::chrono::milliseconds;

// A ring of four with a key; a flow from n0 to n1, whose best path is cable 0.
SimtestResult run_ring(const std::string& faults) {
  SimtestPlan plan;
  plan.seed = 1;
  plan.sealed = true;
  plan.shape.nodes = 4;
  plan.shape.cables = {{0, 1, ""}, {1, 2, ""}, {2, 3, ""}, {0, 3, ""}};
  FlowPlan flow;
  flow.source = 0;
  flow.destination = 1;
  flow.begins = milliseconds(500);
  flow.messages.assign(60, MessagePlan{65536, 65536, milliseconds(50), {}});
  plan.flows.push_back(flow);
  plan.faults = *parse_fault_plan(faults);
  return run_simtest(plan);
}

std::string broken_by(const std::string& faults) {
  const std::optional<BrokenRule> broken = run_ring(faults).broken;
  return broken.has_value() ? std::to_string(broken->rule) + ": " + broken->what : "";
}

TEST(OutsiderRule, HoldsInAQuietWorldAndWhileDatagramsArePlayed) {
  EXPECT_EQ(broken_by("none"), "");
  EXPECT_EQ(broken_by("replay@1000+3000:0:1000"), "");
}

// 1.5 s, in order and not, where 1 s of silence ends an adjacency.
TEST(OutsiderRule, AllowsThatTheCableIsLostWhoseDatagramsAreHeldBack) {
  EXPECT_EQ(broken_by("hold@1000+4000:0:6000"), "");
  EXPECT_EQ(broken_by("hold@1000+4000:0:6002"), "");
  EXPECT_EQ(broken_by("hold@1000+4000:2:6001"), "");
}

}  // namespace
}  // namespace cableway::sim
