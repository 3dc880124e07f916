#include "core/view/events_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "core/session/session_message.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class EventsView : public testing::Test {
 protected:
  json view() { return json::parse(events_view(world_.node(0))); }

  sim::NodeWorld world_{1};
};

TEST_F(EventsView, ShowsEvents) {
  const auto segments = world_.build(2, {{0, 1}});
  world_.start_all();
  ASSERT_TRUE(world_.settle(2s, [&] { return world_.node(0).paths().topology().cable_count() == 1; }));
  world_.clock().run_until(Instant{10s});
  world_.fabric().set_carrier(segments[0], false);
  world_.clock().run_for(1500ms);
  EXPECT_EQ(events_view(world_.node(0)).find("{\n  \"schema\": 1,"), 0U);
  json shown = view();
  EXPECT_EQ(shown.at("node"), "n0");
  EXPECT_EQ(shown.at("cluster"), "test");
  EXPECT_EQ(shown.at("incarnation"), std::to_string(world_.node(0).identity().boot_nonce));
  EXPECT_EQ(shown.at("left_out"), json::object());
  json& events = shown.at("events");
  ASSERT_EQ(events.size(), 2U) << shown.dump(2);
  EXPECT_EQ(events[1], json::parse(R"({
      "number": 2, "time": "2000-01-01T00:00:10.000Z", "age_ms": 1500, "severity": "warning", "code": "CABLE_LOST",
      "fields": {"cable": "n0.eth0-n1.eth0", "port": "eth0", "neighbour": "n1", "neighbour_port": "eth0",
                 "reason": "the cable was unplugged"},
      "text": "cable eth0 to node n1 (eth0) is down: the cable was unplugged"})"));
  EXPECT_EQ(events[0].at("number"), 1);
  EXPECT_EQ(events[0].at("code"), "CABLE_UP");
  EXPECT_EQ(events[0].at("severity"), "info");
  EXPECT_EQ(events[0].at("text"), "cable eth0 to node n1 (eth0) is up");
  EXPECT_EQ(events[0].at("fields").at("neighbour"), "n1");
}

TEST_F(EventsView, ShowsTheNumberLeftOut) {
  world_.build(1, {});
  world_.start_all();
  for (int i = 0; i < 100; ++i) world_.node(0).event_sink().raise(EventCode::kConnectionRefused, "refused");
  EXPECT_EQ(view().at("left_out"), (json{{"CONNECTION_REFUSED", 100 - EventLog::kBurst}}));
}

// A larger view would not fit into a session message and could not be shown at all.
TEST_F(EventsView, FitsTheLongestEventsIntoAMessage) {
  world_.build(1, {});
  world_.start_all();
  // Quotes take two bytes in JSON.
  EventFields fields;
  for (std::size_t i = 0; i < EventLog::kMaxFields; ++i) {
    fields.push_back({"restart_needed" + std::to_string(i), std::string(EventLog::kMaxFieldBytes, '"')});
  }
  for (int round = 0; round < 200; ++round) {
    for (const EventKind& kind : event_kinds()) {
      world_.node(0).event_sink().raise(kind.code, std::string(EventLog::kMaxTextBytes, '"'), fields);
    }
    world_.clock().run_for(150ms);
  }
  ASSERT_EQ(world_.node(0).events().size(), EventLog::kKept);
  EXPECT_LT(events_view(world_.node(0)).size(), kMaxSessionMessageBytes - (1U << 20));
}

}  // namespace
}  // namespace cableway
