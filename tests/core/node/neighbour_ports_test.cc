// A relay connects only to TCP ports that the neighbour's node has announced (core/flooding/told_ports.h): whole nodes
// in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/flooding/told_ports.h"
#include "core/node/node.h"
#include "sim/nodes/node_world.h"
#include "tests/routing/sample_topologies.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class NodesTellPortsTest : public testing::Test {
 protected:
  NodesTellPortsTest() {
    world_.build(4, routing::line_pairs(4));
    world_.observe_told([this](sim::NodeWorld::NodeNumber node) { told_ += node == 1; });
    world_.start_all();
    EXPECT_TRUE(settle());
  }
  bool settle() {
    return world_.settle(10s, [this] { return world_.node(0).paths().topology().cable_count() == 3; });
  }
  // What n1 says to a set-up from n0 that leaves it for this TCP port of a process of `to`.
  absl::Status check(const std::string& to, std::uint16_t port) {
    const auto paths = world_.node(0).paths().paths_for_flow(to, 0, 1);
    if (!paths.ok()) return paths.status();
    CircuitSetup setup;
    setup.from_node = "n0";
    setup.hops = paths->front().hops;
    setup.hops.back().to_port = port;
    return world_.node(1).check_transit(setup);
  }

  sim::NodeWorld world_{1};
  int told_ = 0;
};

TEST_F(NodesTellPortsTest, ARelayConnectsToToldPortsOnly) {
  const absl::Status unknown = check("n2", 5000);
  EXPECT_TRUE(absl::IsNotFound(unknown)) << unknown;
  EXPECT_THAT(unknown.message(),
              HasSubstr("node n1 does not connect to TCP port 5000 of node n2, which has not announced"));
  EXPECT_TRUE(absl::IsNotFound(check("n2", world_.node(2).relay_port()))) << "as if a process listened there";
  told_ = 0;
  world_.node(2).tell_ports({5000, 5001});
  world_.clock().run_for(50ms);
  EXPECT_EQ(told_, 1);
  EXPECT_TRUE(check("n2", 5000).ok()) << check("n2", 5000);
  EXPECT_TRUE(absl::IsNotFound(check("n2", 22)));
  EXPECT_TRUE(check("n3", 22).ok()) << "the next hop is a relay, which decides";
}

TEST_F(NodesTellPortsTest, ALostPortCountsForAMinute) {
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(50ms);
  world_.node(2).tell_ports({});
  world_.clock().run_for(ToldPorts::kFormer - 10s);
  EXPECT_TRUE(check("n2", 5000).ok());
  world_.clock().run_for(11s);
  EXPECT_TRUE(absl::IsNotFound(check("n2", 5000)));
}

TEST_F(NodesTellPortsTest, ARestartedRelayIsToldAgain) {
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(50ms);
  world_.kill(1);
  world_.clock().run_for(5s);
  world_.start(1);
  EXPECT_TRUE(settle());
  world_.clock().run_for(50ms);
  EXPECT_TRUE(check("n2", 5000).ok()) << check("n2", 5000);
}

TEST_F(NodesTellPortsTest, PortsOfARestartedNodeCountUntilItsProcessesAreBack) {
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(50ms);
  world_.kill(2);
  world_.clock().run_for(5s);
  world_.start(2);
  EXPECT_TRUE(settle());
  world_.clock().run_for(50ms);
  EXPECT_TRUE(check("n2", 5000).ok()) << check("n2", 5000);
  world_.clock().run_for(ToldPorts::kFormer);
  EXPECT_TRUE(absl::IsNotFound(check("n2", 5000)));
}

}  // namespace
}  // namespace cableway
