#include "core/live/live_json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "core/live/log_json.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

// n0 of three nodes in a line.
class LiveJsonTest : public ::testing::Test {
 protected:
  LiveJsonTest() {
    world_.build(3, {{0, 1}, {1, 2}});
    world_.start_all();
    EXPECT_TRUE(world_.settle(2s, [&] { return node().paths().topology().cable_count() == 2; }));
  }

  Node& node() { return world_.node(0); }

  json live(const HostTraffic& traffic = {}) {
    const ViewSources sources = {.node = node(),
                                 .topology = [this]() -> const routing::Topology& { return node().paths().topology(); },
                                 .relay = [this] { return relay_; },
                                 .flows = [this] { return flows_; },
                                 .sessions = [] { return std::size_t{4}; },
                                 .problems = [this] { return problems_; },
                                 .keys = [] { return std::vector<std::string>(); },
                                 .rejected = [] { return std::vector<RejectedPort>(); },
                                 .control = [] { return ControlCounters{}; }};
    return json::parse(live_json(sources, traffic, "1.2.3"));
  }

  void add_flow(std::uint64_t rate, const std::string& waits = "") {
    FlowStatus flow;
    flow.flow.path = "n0 -c-> n1";
    flow.bytes_per_s = rate;
    flow.waits = waits;
    flows_.listed.push_back(flow);
    ++flows_.open;
  }

  sim::NodeWorld world_{1};
  RelayStatus relay_;
  FlowsStatus flows_;
  std::vector<HostProblem> problems_;
};

TEST_F(LiveJsonTest, HasPortsWithTheirCountsAndCables) {
  const std::string port = node().neighbours().ports().front().interface;
  HostTraffic traffic;
  traffic[port] = {{11, 0, 0, 0, 33}, {22, 0, 0, 0}};
  const json live_now = live(traffic);
  ASSERT_EQ(live_now["ports"].size(), 1U);
  EXPECT_EQ(live_now["ports"][0]["counts"],
            json::parse(R"({"received_bytes": 11, "sent_bytes": 22, "rdma_received_bytes": 33,
                            "rdma_sent_bytes": null})"));
  EXPECT_EQ(live_now["ports"][0]["cables"][0]["neighbour"], world_.node(1).identity().name);
  EXPECT_EQ(live_now["ports"][0]["cables"][0]["cable"], node().paths().topology().cables()[0].name);
  EXPECT_EQ(live_now["ports"][0]["cables"][0]["up"], true);
  EXPECT_EQ(live()["ports"][0]["counts"], nullptr);
  EXPECT_EQ(live_now["node"], node().identity().name);
  EXPECT_EQ(live_now["version"], "1.2.3");
}

TEST_F(LiveJsonTest, ShowsTheFlowsThatWaitAndThoseThatCarryMost) {
  for (std::uint64_t rate = 0; rate < 2 * kMaxLiveFlows; ++rate) add_flow(rate);
  add_flow(0, "no path");
  const json live_now = live();
  ASSERT_EQ(live_now["flows"].size(), kMaxLiveFlows);
  EXPECT_EQ(live_now["flows"][0]["waits"], "no path");
  EXPECT_EQ(live_now["flows"][1]["bytes_per_s"], 2 * kMaxLiveFlows - 1);
  EXPECT_EQ(live_now["flows"][kMaxLiveFlows - 1]["bytes_per_s"], kMaxLiveFlows + 1);
  EXPECT_EQ(live_now["own"]["flows_open"], 2 * kMaxLiveFlows + 1);
  EXPECT_EQ(live_now["own"]["flows_waiting"], 1);
}

TEST_F(LiveJsonTest, NamesEachPathThatCarriesOnce) {
  add_flow(1);
  FlowStatus& flow = flows_.listed.front();
  const auto add_circuit = [&](const std::string& path, bool carries) {
    CircuitCounts circuit;
    circuit.path = path;
    circuit.carries = carries;
    flow.counts.circuits.push_back(circuit);
  };
  EXPECT_EQ(live()["flows"][0]["paths"], json::parse(R"(["n0 -c-> n1"])"));
  add_circuit("one", true);
  add_circuit("one", true);
  add_circuit("standby", false);
  add_circuit("two", true);
  EXPECT_EQ(live()["flows"][0]["paths"], json::parse(R"(["one", "two"])"));
}

TEST_F(LiveJsonTest, ProblemsHaveSeverityAndAdvice) {
  problems_ = {{EventCode::kHttpFailed, "taken"}};
  const json problem = live()["problems"][0];
  EXPECT_EQ(problem["code"], "HTTP_FAILED");
  EXPECT_EQ(problem["severity"], "warning");
  EXPECT_EQ(problem["text"], "taken");
  EXPECT_EQ(problem["advice"], std::string(kind_of(EventCode::kHttpFailed).advice));
}

// What others can make large does not make the document large.
TEST_F(LiveJsonTest, IsBounded) {
  const std::string text(100'000, '"');
  for (int i = 0; i < 4096; ++i) add_flow(1, text);
  for (FlowStatus& flow : flows_.listed) flow.flow.path = text;
  for (int i = 0; i < 1000; ++i) problems_.push_back({EventCode::kCableSilent, text});
  relay_.circuits.resize(10'000, {.path = text});
  const json live_now = live();
  EXPECT_EQ(live_now["problems"].size(), kMaxLiveProblems);
  EXPECT_EQ(live_now["circuits"].size(), kMaxLiveCircuits);
  EXPECT_LT(live_now.dump().size(), 1U << 20);
}

TEST_F(LiveJsonTest, TheLogHasTheNewestEventsFirst) {
  for (int i = 0; i < 50; ++i) {
    node().event_sink().raise(EventCode::kFlowReturned, "<b>" + std::to_string(i));
    node().event_sink().raise(EventCode::kDialStarted, "for maintainers");
  }
  const json log = json::parse(log_json(node().events()));
  EXPECT_EQ(log["events"][0]["text"], "<b>49");
  EXPECT_EQ(log["events"][0]["code"], "FLOW_RETURNED");
  EXPECT_EQ(log["events"][1]["text"], "<b>48");
  EXPECT_LE(log["events"].size(), kMaxLogEvents);
  EXPECT_EQ(log_json(node().events()), log_json(node().events()));
}

}  // namespace
}  // namespace cableway
