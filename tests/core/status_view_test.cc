#include "core/status_view.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/node_world.h"

namespace cableway {
namespace {

// n1 of the line n0 - n1 - n2, once all cables stand.
class StatusView : public ::testing::Test {
 protected:
  StatusView() {
    world_.build(3, {{0, 1}, {1, 2}});
    world_.start_all();
    EXPECT_TRUE(world_.settle(std::chrono::seconds(2), [&] { return node().paths().topology().cable_count() == 2; }));
  }
  Node& node() { return world_.node(1); }

  sim::NodeWorld world_{1};
};

TEST_F(StatusView, IsJsonWithEveryField) {
  RelayStatus relay;
  relay.circuits = {{7, "n0 -c0-> n1 -c1-> n2", 11, 12000, 2500}, {8, "n2 -c1-> n1 -c0-> n0", 0, 0, 0}};
  relay.circuits_opened = 5;
  relay.circuits_broken = 1;
  relay.chunks = 100;
  relay.bytes = 1U << 20;
  relay.setups_refused = 3;
  relay.memory = {.bytes = 1U << 30,
                  .most_circuits = 1024,
                  .floors = 1U << 20,
                  .leases = 64,
                  .leased = 1,
                  .most_leased = 2,
                  .leased_bytes = 8U << 20,
                  .waits = 9};
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), relay, 4, {}));
  const nlohmann::json expected = {
      {"node", "n1"},
      {"cluster", "test"},
      {"draining", false},
      {"addresses", {"10.0.0.2", "10.0.0.5"}},
      {"relay_port", 7470},
      {"nodes", 3},
      {"cables_up", 2},
      {"problems", nlohmann::json::array()},
      {"sessions", 4},
      {"relayed",
       {{"bytes", 1048576},
        {"chunks", 100},
        {"circuits_open", 2},
        {"circuits_opened", 5},
        {"circuits_broken", 1},
        {"setups_refused", 3}}},
      {"relay_memory",
       {{"bytes", 1U << 30},
        {"circuits_most", 1024},
        {"floor_bytes", 1U << 20},
        {"leases", 64},
        {"leased", 1},
        {"leased_most", 2},
        {"leased_bytes", 8U << 20},
        {"waits", 9}}},
      {"circuits",
       {{{"flow", 7}, {"path", "n0 -c0-> n1 -c1-> n2"}, {"chunks", 11}, {"bytes", 12000}, {"open_ms", 2500}},
        {{"flow", 8}, {"path", "n2 -c1-> n1 -c0-> n0"}, {"chunks", 0}, {"bytes", 0}, {"open_ms", 0}}}}};
  EXPECT_EQ(view, expected) << view.dump(2);
}

TEST_F(StatusView, HasAnEmptyListWithoutCircuits) {
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), RelayStatus{}, 0, {}));
  EXPECT_EQ(view.at("circuits"), nlohmann::json::array());
}

TEST_F(StatusView, SaysWhyNoCircuitGetsIn) {
  const nlohmann::json view =
      nlohmann::json::parse(status_view(node(), RelayStatus{}, 0, {"cannot listen on 10.7.0.1 port 7470"}));
  EXPECT_EQ(
      view.at("problems"),
      nlohmann::json::parse(R"([{"interface": "", "text": "cannot listen on 10.7.0.1 port 7470", "seconds": null}])"));
}

// A view must not end the node, whatever names it shows.
TEST_F(StatusView, ShowsAPathThatIsNotUtf8) {
  RelayStatus relay;
  relay.circuits = {{7, "n0 -\xff\xfe-> \"n1\"\n", 1, 1, 1}};
  const nlohmann::json view = nlohmann::json::parse(status_view(node(), relay, 0, {}));
  EXPECT_EQ(view.at("circuits").at(0).at("chunks"), 1);
}

// Else the answer would not fit into a session's message.
TEST_F(StatusView, ListsOnlyAsManyCircuitsAsFit) {
  RelayStatus relay;
  relay.circuits.assign(1000, {7, std::string(20000, 'x'), 1, 1, 1});
  const std::string text = status_view(node(), relay, 0, {});
  EXPECT_LT(text.size(), 8U << 20);
  const nlohmann::json view = nlohmann::json::parse(text);
  EXPECT_EQ(view.at("relayed").at("circuits_open"), 1000);
  EXPECT_EQ(view.at("circuits").size(), 209U);
}

}  // namespace
}  // namespace cableway
