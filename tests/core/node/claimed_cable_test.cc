// Two neighbours are the same cable by its name, as one of them claims the node and the interface of the other on their
// switch: a relay connects to no TCP port that not both have announced.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/node/node.h"
#include "sim/nodes/lying_node.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnnounced = 2 * kTellPortsEvery + 50ms;

//   n0 --- n1 --- switch --- n2
//                 |    |
//                n3   the impostor
class ClaimedCableTest : public testing::Test {
 protected:
  ClaimedCableTest() {
    world_.build(5, {{0, 1}});
    world_.fabric().add_port(kImpostor, facts("eth9", "10.9.0.9"));
    world_.fabric().join({{1, world_.fabric().add_port(1, facts("eth1", "10.1.0.1"))},
                          {2, world_.fabric().add_port(2, facts("eth0", "10.1.0.2"))},
                          {3, world_.fabric().add_port(3, facts("eth0", "10.1.0.3"))},
                          {kImpostor, world_.fabric().add_port(kImpostor, facts("eth0", "10.1.0.2"))}});
    for (std::size_t node = 0; node < kImpostor; ++node) world_.start(node);
    EXPECT_TRUE(world_.settle(10s, [this] { return world_.node(0).paths().topology().cable_count() == 4; }));
  }
  static PortFacts facts(const std::string& interface, const std::string& address) {
    PortFacts facts;
    facts.interface = interface;
    facts.mtu = 1500;
    facts.rate_mbps = 1000;
    facts.addresses = {{routing::parse_port_address(address).value(), 24}};
    return facts;
  }
  // What n1 says to a set-up for a process of n2.
  absl::Status check(std::uint16_t port) {
    setup_.hops.back().to_port = port;
    return world_.node(1).check_transit(setup_);
  }
  int neighbours_called_n2() {
    int count = 0;
    for (const auto& [key, other] : world_.node(1).neighbours().all()) count += other.up && other.name == "n2";
    return count;
  }

  static constexpr std::size_t kImpostor = 4;
  const NoSeal no_seal_{};
  sim::NodeWorld world_{1};
  CircuitSetup setup_;
};

TEST_F(ClaimedCableTest, OnlyPortsThatBothHaveAnnouncedAreConnectedTo) {
  setup_.from_node = "n0";
  setup_.hops = world_.node(0).paths().paths_for_flow("n2", 0, 1).value().front().hops;
  world_.node(2).tell_ports({5000, 5001});
  world_.clock().run_for(kAnnounced);
  ASSERT_TRUE(check(5000).ok()) << check(5000);
  sim::LyingNode impostor({"test", "n2", world_.node(2).identity().boot_nonce}, world_.clock(),
                          world_.fabric().ports_of(kImpostor), no_seal_);
  impostor.start();
  world_.clock().run_for(3s);
  ASSERT_EQ(neighbours_called_n2(), 2);
  impostor.tell({routing::kDefaultRelayPort, {22, 5001}});
  world_.clock().run_for(kAnnounced);
  EXPECT_FALSE(check(22).ok()) << "only the impostor has announced it";
  EXPECT_FALSE(check(5000).ok()) << "only n2 has announced it";
  EXPECT_TRUE(check(5001).ok()) << check(5001);
  impostor.stop();
  world_.clock().run_for(3s);
  EXPECT_TRUE(check(5000).ok()) << check(5000);
  EXPECT_FALSE(check(22).ok());
}

}  // namespace
}  // namespace cableway
