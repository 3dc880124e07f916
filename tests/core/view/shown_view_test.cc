#include "core/view/shown_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/flow/frame.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ShownViewTest : public ::testing::Test {
 protected:
  ShownViewTest() : world_(3) {
    world_.build(2, {{0, 1}});
    world_.start_all();
    EXPECT_TRUE(world_.settle(std::chrono::seconds(10),
                              [&] { return world_.node(0).paths().topology().cables().size() == 1; }));
  }

  ViewSources sources() {
    return {.node = world_.node(0),
            .transport = TransportSetting::kAuto,
            .topology = [this]() -> const routing::Topology& { return world_.node(0).paths().topology(); },
            .relay =
                [this] {
                  ++lists_;
                  return RelayStatus();
                },
            .flows =
                [this] {
                  ++lists_;
                  return flows_;
                },
            .relay_counts =
                [] {
                  RelayStatus counts;
                  counts.circuits_open = 7;
                  return counts;
                },
            .flow_counts =
                [] {
                  FlowsStatus counts;
                  counts.open = 8;
                  return counts;
                },
            .sessions = [] { return std::size_t{1}; },
            .problems = [this] { return problems_; },
            .keys = [] { return std::vector<std::string>{"4c4c4c4c"}; },
            .rejected =
                [] {
                  return std::vector<RejectedPort>{{"docker0", "it is a bridge", false}};
                },
            .control = [] { return ControlCounters(); },
            .port_bytes = [this] { return bytes_; },
            .run = {.version = "1.2.3", .started = world_.node(0).now() + -std::chrono::seconds(5)}};
  }
  std::string text(const std::string& view) { return shown_view(view, sources()).value(); }
  Json json(const std::string& view) { return Json::parse(text(view)); }

  sim::NodeWorld world_;
  FlowsStatus flows_;
  std::size_t lists_ = 0;  // how often a list of circuits or flows was asked for
  std::vector<HostProblem> problems_;
  std::map<std::string, PortBytes> bytes_ = {{"eth0", {7, 8}}};
};

TEST_F(ShownViewTest, EachSaysWhoseItIs) {
  for (const char* view : {"status", "ports", "flows", "doctor"}) {
    const Json shown = json(view);
    EXPECT_EQ(shown.at("node"), "n0") << view;
    EXPECT_EQ(shown.at("version"), "1.2.3") << view;
    EXPECT_EQ(shown.at("uptime_ms"), 5000) << view;
  }
  EXPECT_TRUE(absl::IsNotFound(shown_view("events", sources()).status()));
}

TEST_F(ShownViewTest, StatusCountsNeighbours) {
  const Json shown = json("status");
  EXPECT_EQ(shown.at("neighbours"), Json::array({"n1"}));
  EXPECT_EQ(shown.at("cables_up"), 1);
  EXPECT_EQ(shown.at("has_key"), true);
}

TEST_F(ShownViewTest, NoneTellsOfKeysFilesUsersOrOtherInterfaces) {
  problems_ = {{EventCode::kKeyUnreadable, "/home/zoe7/key: Permission denied; see \"/etc/cableway/cableway.toml\"."},
               {EventCode::kHttpFailed, "cannot use 10.0.0.1/24 with HTTP_TOKEN=/run/token"},
               {EventCode::kLogUnavailable, "cannot open my logs/of zoe7: is a folder"},
               {EventCode::kSessionNameTaken, "process 4711 of user zoe7 (1001) holds the name of the session socket"},
               {EventCode::kNoPorts, "no interface is a port: enp3s0: it is the default route's"}};
  for (const char* view : {"status", "ports", "flows", "doctor"}) {
    for (const char* secret : {"4c4c4c4c", "docker0", "/home", "/etc", "/run", "logs/of", "4711", "zoe7", "enp3s0"}) {
      EXPECT_THAT(text(view), Not(HasSubstr(secret))) << view;
    }
  }
  const Json problems = json("status").at("problems");
  ASSERT_EQ(problems.size(), problems_.size());
  EXPECT_EQ(problems[0].at("code"), "KEY_UNREADABLE");
  EXPECT_EQ(problems[0].at("text"), kind_of(EventCode::kKeyUnreadable).meaning);
}

TEST_F(ShownViewTest, ProblemsOfCablesHaveTheirText) {
  problems_ = {{EventCode::kCableRefused, "cable to node n1: MTU 9000 here, 1500 there"}};
  EXPECT_EQ(json("doctor").at("problems").at(0).at("text"), problems_[0].text);
}

TEST_F(ShownViewTest, PortsTellOfRdmaInFixedWords) {
  world_.fabric().change_port(0, world_.node(0).neighbours().ports().front().id, [](PortFacts& port) {
    port.rdma_trouble = "cannot open /dev/infiniband/uverbs0: Permission denied";
  });
  world_.clock().run_for(std::chrono::seconds(1));
  for (const char* view : {"ports", "doctor"}) {
    EXPECT_THAT(text(view), Not(HasSubstr("/dev"))) << view;
    const Json shown = json(view).at("ports").at(0);
    EXPECT_EQ(shown.at("rdma_trouble"), "Permission denied to use its RDMA device");
    EXPECT_EQ(shown.at("transport_reason"), "Permission denied to use its RDMA device");
  }
}

TEST_F(ShownViewTest, PortsHaveTheirBytes) {
  const Json port = json("ports").at("ports").at(0);
  EXPECT_EQ(port.at("interface"), "eth0");
  EXPECT_EQ(port.at("received_bytes"), 7);
  EXPECT_EQ(port.at("sent_bytes"), 8);
  EXPECT_EQ(port.at("rdma_received_bytes"), nullptr);
  EXPECT_EQ(port.at("rdma_sent_bytes"), nullptr);
  EXPECT_EQ(port.at("neighbours").at(0).at("node"), "n1");
}

TEST_F(ShownViewTest, PortsHaveTheirBytesOverRdmaApart) {
  bytes_ = {{"eth0", {7, 8, 9, 10}}};
  const Json port = json("ports").at("ports").at(0);
  EXPECT_EQ(port.at("received_bytes"), 7);
  EXPECT_EQ(port.at("rdma_received_bytes"), 9);
  EXPECT_EQ(port.at("rdma_sent_bytes"), 10);
}

TEST_F(ShownViewTest, StatusSumsTheBytesOfItsPorts) {
  bytes_ = {{"docker0", {100, 100, 100, 100}}, {"eth0", {7, 8, 9, 10}}};
  const Json shown = json("status");
  EXPECT_EQ(shown.at("received_bytes"), 7) << "docker0 is no port";
  EXPECT_EQ(shown.at("sent_bytes"), 8);
  EXPECT_EQ(shown.at("rdma_received_bytes"), 9);
  EXPECT_EQ(shown.at("rdma_sent_bytes"), 10);
  EXPECT_EQ(shown.at("counted_ports"), Json::array({"eth0"}));
  EXPECT_EQ(shown.at("rdma_counted_ports"), Json::array({"eth0"}));
}

TEST_F(ShownViewTest, StatusHasNoSumOfBytesThatNobodyCounts) {
  EXPECT_EQ(json("status").at("rdma_sent_bytes"), nullptr);
  EXPECT_EQ(json("status").at("rdma_counted_ports"), Json::array());
  bytes_ = {};
  EXPECT_EQ(json("status").at("received_bytes"), nullptr);
  EXPECT_EQ(json("status").at("sent_bytes"), nullptr);
}

TEST_F(ShownViewTest, FlowsAreListedWithoutTheirProcess) {
  FlowStatus flow;
  flow.flow = {1, 0xAB, "n1", true, "n0 -> n1", "eth0", {"tcp", "it is all there is"}, 10};
  flow.process = 4711;
  flows_.open = 1;
  flows_.listed = {flow};
  const Json shown = json("flows").at("flows");
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].at("path"), "n0 -> n1");
  EXPECT_FALSE(shown[0].contains("process"));
  EXPECT_FALSE(json("status").contains("flows"));
}

// They may be thousands.
TEST_F(ShownViewTest, OnlyFlowsCostsAListAndOnlyThatOfFlows) {
  for (const char* view : {"status", "ports", "doctor"}) json(view);
  EXPECT_EQ(lists_, 0U);
  EXPECT_EQ(json("status").at("own").at("flows_open"), 8);
  EXPECT_EQ(json("flows").at("relayed").at("circuits_open"), 7);
  EXPECT_EQ(lists_, 1U);
}

TEST_F(ShownViewTest, VeryManyFlowsAreShownInPart) {
  FlowStatus flow;
  flow.flow = {1, 0xAB, "n1", true, std::string(200, 'p'), "eth0", {"tcp", "it is all there is"}, 10};
  flow.waits = std::string(500, '"');
  flows_.listed.assign(4096, flow);
  flows_.open = 5000;
  EXPECT_LE(text("flows").size(), kMaxDocumentBytes);
  const Json shown = json("flows");
  EXPECT_GT(shown.at("flows").size(), 100U);
  EXPECT_EQ(shown.at("flows").size() + shown.at("flows_left_out").get<std::size_t>(), 5000U);
  EXPECT_FALSE(shown.contains("circuits")) << "a relay has too many, and they are counted";
}

TEST_F(ShownViewTest, DoctorNamesTheOtherEndOfALostCable) {
  EXPECT_EQ(json("doctor").at("lost_cables"), Json::object());
  world_.kill(1);
  world_.clock().run_for(std::chrono::seconds(10));
  EXPECT_EQ(json("doctor").at("lost_cables").at("eth0").at("node"), "n1");
}

}  // namespace
}  // namespace cableway
