// The lies of tools/bench/hostile, told to nodes in virtual time.
#include "tools/bench/hostile/lies.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/event/event_code.h"
#include "sim/nodes/lying_node.h"
#include "sim/nodes/node_world.h"

namespace cableway::bench {
namespace {

using namespace std::chrono_literals;

//   n0 --- n1 --- the liar
class LiesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.start(0);
    world_.start(1);
    liar_.start();
    world_.clock().run_for(1s);
    ASSERT_EQ(liar_.neighbours_up(), 1U);
    ASSERT_EQ(nodes(), 3U);
  }
  const routing::Topology& topology() { return world_.node(0).paths().topology(); }
  std::size_t nodes() { return topology().node_count(); }

  sim::NodeWorld world_{1};
  const std::vector<sim::CableFabric::SegmentNumber> cables_ = world_.build(3, {{0, 1}, {1, 2}});
  const NoSeal seal_{};
  sim::LyingNode liar_{{"test", "liar", 7}, world_.clock(), world_.fabric().ports_of(2), seal_};
};

TEST_F(LiesTest, CallsArePaced) {
  std::uint64_t last = 0;
  const PacedCalls calls(world_.clock(), 1000, [&last](std::uint64_t call) { last = call; });
  world_.clock().run_for(2s);
  EXPECT_NEAR(static_cast<double>(last), 2000, 10);
}

TEST_F(LiesTest, InventedNodesJoin) {
  invent_nodes(liar_, 20, 2);
  world_.clock().run_for(1s);
  EXPECT_EQ(nodes(), 3U + 20U);
  EXPECT_EQ(topology().cable_count(), 2U + 8U + 40U) << "behind the liar, and between them";
}

TEST_F(LiesTest, AddressesAreClaimed) {
  const routing::PortAddress stolen = world_.fabric().ports_of(0).ports()[0].addresses[0].address;
  claim_addresses(liar_, {stolen});
  world_.clock().run_for(1s);
  EXPECT_EQ(nodes(), 3U + 1U);
  EXPECT_EQ(topology().adjacencies(*topology().find_node("n0")).size(), 1U) << "it is n0's all the same";
}

TEST_F(LiesTest, ForgeriesAreBelievedAndSuperseded) {
  constexpr std::uint64_t kBootNonce = 5000;  // later than those of the world
  const auto forging = forge(liar_, world_.clock(), {"n0"}, kBootNonce, 10);
  world_.clock().run_for(2s);
  EXPECT_GE(world_.node(0).events().count(EventCode::kNameDefended), 1U);
}

TEST_F(LiesTest, RenewalsChangeTopologies) {
  std::size_t changes = 0;
  world_.observe_topology([&changes](std::size_t node) { changes += node == 0 ? 1 : 0; });
  const auto renewing = renew_own(liar_, world_.clock(), 20);
  world_.clock().run_for(1s);
  EXPECT_GE(changes, 10U);
}

TEST_F(LiesTest, InventedNodesAreRenewed) {
  const auto renewing = renew_invented(liar_, world_.clock(), 640);
  world_.clock().run_for(1s);
  EXPECT_EQ(nodes(), 3U + 64U);
  EXPECT_GE(liar_.sent(), 64U + 600U);
}

}  // namespace
}  // namespace cableway::bench
