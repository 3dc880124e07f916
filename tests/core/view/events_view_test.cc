#include "core/view/events_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(EventsView, TellsWhatHappenedAndHowLongAgo) {
  sim::NodeWorld world(1);
  const auto segments = world.build(2, {{0, 1}});
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return world.node(0).paths().topology().cable_count() == 1; }));
  world.fabric().set_carrier(segments[0], false);
  world.clock().run_for(1500ms);
  const nlohmann::json view = nlohmann::json::parse(events_view(world.node(0)));
  EXPECT_EQ(view.at("node"), "n0");
  EXPECT_EQ(view.at("cluster"), "test");
  EXPECT_EQ(view.at("life"), std::to_string(world.node(0).identity().boot_nonce));
  const nlohmann::json& events = view.at("events");
  ASSERT_EQ(events.size(), 2U) << view.dump(2);
  EXPECT_EQ(events[0].at("number"), 1);
  EXPECT_THAT(events[0].at("text").get<std::string>(), HasSubstr("cable eth0 to node n1 (eth0) is up"));
  EXPECT_EQ(events[1].at("number"), 2);
  EXPECT_THAT(events[1].at("text").get<std::string>(), HasSubstr("unplugged"));
  EXPECT_EQ(events[1].at("age_ms"), 1500);
  EXPECT_GT(events[0].at("age_ms").get<int>(), 1500);
}

}  // namespace
}  // namespace cableway
