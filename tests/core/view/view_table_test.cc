#include "core/view/view_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "routing/topology_io/json_topology.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// n0 of two nodes with a cable between them.
class ViewTableTest : public ::testing::Test {
 protected:
  ViewTableTest() {
    world_.build(2, {{0, 1}});
    world_.start_all();
    EXPECT_TRUE(world_.settle(2s, [&] { return node().paths().topology().cable_count() == 1; }));
  }

  Node& node() { return world_.node(0); }

  ViewSources sources(std::vector<HostProblem> problems = {}) {
    return {.node = node(),
            .topology = [this]() -> const routing::Topology& { return node().paths().topology(); },
            .relay = [] { return RelayStatus{}; },
            .flows = [] { return FlowsStatus{}; },
            .sessions = [] { return std::size_t{3}; },
            .problems = [problems = std::move(problems)] { return problems; },
            .keys =
                [] {
                  return std::vector<std::string>{"1a2b3c4d", "5e6f7a8b"};
                },
            .rejected = [] { return std::vector<RejectedPort>{{.interface = "lo", .reason = "is the loopback"}}; },
            .control = [] { return ControlCounters{}; },
            .gone = [] { return std::string(R"({"schema":1,"gone":[]})"); }};
  }

  sim::NodeWorld world_{1};
};

TEST_F(ViewTableTest, EveryViewIsAJsonObject) {
  std::string names;
  for (const View& view : all_views()) {
    const ViewReply reply = answer_view(view.name, sources());
    EXPECT_EQ(reply.error, "");
    EXPECT_TRUE(nlohmann::json::parse(reply.text, nullptr, false).is_object()) << view.name;
    names += std::string(view.name) + " ";
  }
  EXPECT_EQ(names, "topology status ports events gone ");
}

TEST_F(ViewTableTest, TheTopologyViewCanBeParsed) {
  const absl::StatusOr<routing::Topology> read =
      routing::parse_json_topology(answer_view("topology", sources()).text, "the view");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, node().paths().topology());
}

TEST_F(ViewTableTest, AViewShowsTheHostsComponents) {
  const nlohmann::json status =
      nlohmann::json::parse(answer_view("status", sources({{EventCode::kNotListening, "a port is taken"}})).text);
  EXPECT_EQ(status["sessions"], 3);
  EXPECT_EQ(status["problems"][0]["text"], "a port is taken");
  EXPECT_EQ(status["problems"][0]["code"], "NOT_LISTENING");
  EXPECT_EQ(status["keys"], nlohmann::json::parse(R"([{"fingerprint": "1a2b3c4d", "seals": true},
                                                      {"fingerprint": "5e6f7a8b", "seals": false}])"));
  const nlohmann::json ports = nlohmann::json::parse(answer_view("ports", sources()).text);
  EXPECT_EQ(ports["rejected"][0]["interface"], "lo");
}

TEST_F(ViewTableTest, AnUnknownNameIsAnsweredWithTheKnownNames) {
  EXPECT_EQ(answer_view("flows", sources()),
            (ViewReply{"no view \"flows\"; there are topology, status, ports, events, gone", ""}));
  EXPECT_EQ(answer_view("evnets", sources()),
            (ViewReply{"no view \"evnets\" (did you mean \"events\"?); there are topology, status, ports, events, gone",
                       ""}));
}

TEST_F(ViewTableTest, AViewTooLargeForAMessageIsRefused) {
  const ViewReply reply =
      answer_view("status", sources({{EventCode::kNotListening, std::string(kMaxSessionMessageBytes, 'x')}}));
  EXPECT_EQ(reply.text, "");
  EXPECT_THAT(reply.error, HasSubstr("the view \"status\" has "));
}

}  // namespace
}  // namespace cableway
