#include "core/metrics/node_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/strings/match.h"
#include "sim/nodes/node_world.h"
#include "tests/core/metrics/exposition_check.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

// n0 of two nodes with a cable between them.
class NodeMetricsTest : public ::testing::Test {
 protected:
  NodeMetricsTest() {
    world_.build(2, {{0, 1}});
    world_.start_all();
    EXPECT_TRUE(world_.settle(2s, [&] { return node().paths().topology().cable_count() == 1; }));
    relay_.bytes = 1'000'000'000'000;
    relay_.circuits_open = 3;
    relay_.memory.floors = 4096;
    flows_.open = 5;
    flows_.failed = 2;
    flows_.retired[0] = 7;
    control_.ports.push_back(
        {.port = 1, .interface = "p0", .sent = 11, .send_errors = {{1, 2}, {5, 3}}, .last_error = {}, .not_open = {}});
  }

  Node& node() { return world_.node(0); }

  test::Exposition measured(const HostMeasures& host = {}) {
    const ViewSources sources = {.node = node(),
                                 .topology = [this]() -> const routing::Topology& { return node().paths().topology(); },
                                 .relay = [this] { return relay_; },
                                 .flows = [this] { return flows_; },
                                 .relay_counts = [this] { return relay_; },
                                 .flow_counts = [this] { return flows_; },
                                 .sessions = [] { return std::size_t{4}; },
                                 .problems = [this] { return problems_; },
                                 .keys = [] { return std::vector<std::string>(); },
                                 .rejected = [] { return std::vector<RejectedPort>(); },
                                 .control = [this] { return control_; }};
    return test::parse_exposition(node_metrics(sources, host, "1.2.3"));
  }

  std::string port() { return node().neighbours().ports().front().interface; }
  std::string cable() { return node().paths().topology().cables()[0].name; }

  sim::NodeWorld world_{1};
  RelayStatus relay_;
  FlowsStatus flows_;
  ControlCounters control_;
  std::vector<HostProblem> problems_;
};

TEST_F(NodeMetricsTest, IsStrictPrometheusText) {
  EXPECT_THAT(measured().faults, IsEmpty());
}

TEST_F(NodeMetricsTest, ShowsTheNode) {
  const auto samples = measured().samples;
  EXPECT_EQ(samples.at("cableway_build_info{version=\"1.2.3\"}"), "1");
  EXPECT_EQ(samples.at("cableway_nodes"), "2");
  EXPECT_EQ(samples.at("cableway_cables_up"), "1");
  EXPECT_EQ(samples.at("cableway_topology_cables"), "1");
  EXPECT_EQ(samples.at("cableway_sessions"), "4");
  EXPECT_EQ(samples.at("cableway_draining"), "0");
  EXPECT_EQ(samples.at("cableway_events_total{code=\"CABLE_UP\",severity=\"info\"}"), "1");
}

TEST_F(NodeMetricsTest, ShowsPortsAndCables) {
  HostMeasures host;
  host.traffic[port()] = {{1, 2, 3, 4}, {5, 6, 7, 8, 9}};
  host.traffic["elsewhere"] = {};
  const auto samples = measured(host).samples;
  const std::string named = "{interface=\"" + port() + "\"";
  EXPECT_EQ(samples.at("cableway_port_bytes_total" + named + ",direction=\"received\"}"), "1");
  EXPECT_EQ(samples.at("cableway_port_bytes_total" + named + ",direction=\"sent\"}"), "5");
  EXPECT_EQ(samples.at("cableway_port_drops_total" + named + ",direction=\"sent\"}"), "8");
  EXPECT_EQ(samples.at("cableway_port_rdma_bytes_total" + named + ",direction=\"sent\"}"), "9");
  EXPECT_FALSE(samples.contains("cableway_port_rdma_bytes_total" + named + ",direction=\"received\"}"));
  EXPECT_EQ(samples.at("cableway_port_carrier" + named + "}"), "1");
  EXPECT_EQ(samples.at("cableway_port_cables_up" + named + "}"), "1");
  EXPECT_FALSE(samples.contains("cableway_port_bytes_total{interface=\"elsewhere\",direction=\"sent\"}"));
  const std::string cable_labels =
      "{cable=\"" + cable() + "\",interface=\"" + port() + "\",neighbour=\"" + world_.node(1).identity().name + "\"}";
  EXPECT_EQ(samples.at("cableway_cable_up" + cable_labels), "1");
  EXPECT_EQ(samples.at("cableway_cable_loss_ratio" + cable_labels), "0");
  EXPECT_EQ(samples.at("cableway_cables_left_out"), "0");
}

TEST_F(NodeMetricsTest, ShowsProblemsByCode) {
  EXPECT_EQ(measured().samples.at("cableway_problems"), "0");
  EXPECT_FALSE(measured().samples.contains("cableway_problem{code=\"HTTP_FAILED\",severity=\"warning\"}"));
  problems_ = {{EventCode::kHttpFailed, "taken"}, {EventCode::kHttpFailed, "taken, too"}};
  EXPECT_EQ(measured().samples.at("cableway_problem{code=\"HTTP_FAILED\",severity=\"warning\"}"), "2");
  EXPECT_EQ(measured().samples.at("cableway_problems"), "2");
}

TEST_F(NodeMetricsTest, ShowsRelayFlowsAndControl) {
  const auto samples = measured().samples;
  EXPECT_EQ(samples.at("cableway_relay_bytes_total"), "1000000000000");
  EXPECT_EQ(samples.at("cableway_relay_circuits_open"), "3");
  EXPECT_EQ(samples.at("cableway_relay_memory_bytes{transport=\"tcp\",part=\"floors\"}"), "4096");
  EXPECT_EQ(samples.at("cableway_flows_open"), "5");
  EXPECT_EQ(samples.at("cableway_flows_failed_total"), "2");
  EXPECT_EQ(samples.at("cableway_flow_circuits_retired_total{kind=\"failed\"}"), "7");
  EXPECT_EQ(samples.at("cableway_control_datagrams_total{interface=\"p0\",direction=\"sent\"}"), "11");
  EXPECT_EQ(samples.at("cableway_control_send_errors_total{interface=\"p0\"}"), "5");
}

TEST_F(NodeMetricsTest, SumsTheListedFlows) {
  for (const bool sends : {true, true, false}) {
    FlowStatus flow;
    flow.flow.sends = sends;
    flow.bytes_per_s = 100;
    flow.waits = sends ? "" : "no path";
    flows_.listed.push_back(flow);
  }
  const auto samples = measured().samples;
  EXPECT_EQ(samples.at("cableway_flow_rate_bytes_per_second{direction=\"sent\"}"), "200");
  EXPECT_EQ(samples.at("cableway_flow_rate_bytes_per_second{direction=\"received\"}"), "100");
  EXPECT_EQ(samples.at("cableway_flows_waiting"), "1");
  EXPECT_EQ(samples.at("cableway_flows_left_out"), "2");
}

// However many flows and circuits there are, the number of series stays the same.
TEST_F(NodeMetricsTest, HasAsManySeriesForManyFlows) {
  const std::size_t few = measured().samples.size();
  flows_.listed.resize(2000);
  relay_.circuits_open = 2000;
  EXPECT_EQ(measured().samples.size(), few);
}

}  // namespace
}  // namespace cableway
