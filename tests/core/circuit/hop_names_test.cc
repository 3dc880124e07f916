#include "core/circuit/hop_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "core/flow/chunk_link.h"
#include "routing/text/node_name.h"
#include "routing/topology/cable_name.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;

// n0 - n1 - n2, over cables with discovered names.
CircuitSetup two_hops() {
  CircuitSetup setup;
  setup.from_node = "n0";
  setup.hops = {Hop{"n0.eth1-n1.eth0", "10.0.0.1", "n1", "10.0.0.2", 1, false},
                Hop{"n1.eth2-n2.eth1", "10.0.0.5", "n2", "10.0.0.6", 1, false}};
  return setup;
}

TEST(HopNames, NameBothEndsOfEachHop) {
  const CircuitSetup setup = two_hops();
  EXPECT_EQ(to_text(dialing_end(setup, 0)), "node n0 port eth1 (cable to n1 eth0)");
  EXPECT_EQ(to_text(accepting_end(setup, 0)), "node n1 port eth0 (cable to n0 eth1)");
  EXPECT_EQ(to_text(dialing_end(setup, 1)), "node n1 port eth2 (cable to n2 eth1)");
  EXPECT_EQ(to_text(accepting_end(setup, 1)), "node n2 port eth1 (cable to n1 eth2)");
}

TEST(HopNames, KnowTheirOwnInterface) {
  const CircuitSetup setup = two_hops();
  EXPECT_TRUE(is_at(dialing_end(setup, 0), "eth1"));
  EXPECT_TRUE(is_at(accepting_end(setup, 0), "eth0"));
  for (const char* other : {"eth0", "eth", "eth11", ""}) EXPECT_FALSE(is_at(dialing_end(setup, 0), other)) << other;
}

TEST(HopNames, KnowAnInterfaceWithAnyCharacters) {
  CircuitSetup setup = two_hops();
  setup.hops[0].cable = routing::discovered_cable_name("n0", "eth@1", "n1", "eth0");
  EXPECT_TRUE(is_at(dialing_end(setup, 0), "eth@1"));
  EXPECT_FALSE(is_at(dialing_end(setup, 0), "eth1"));
  EXPECT_FALSE(is_at(dialing_end(setup, 0), "eth_1"));
}

TEST(HopNames, AreAtNoInterfaceIfThePortsAreUnknown) {
  CircuitSetup setup = two_hops();
  setup.hops[0].cable = "c0";
  EXPECT_FALSE(is_at(dialing_end(setup, 0), ""));
  EXPECT_FALSE(is_at(dialing_end(setup, 0), "c0"));
}

TEST(HopNames, AreOverALostPortOrThatCableOfIt) {
  const HopEnd end = dialing_end(two_hops(), 0);
  EXPECT_TRUE(is_over(end, {"eth1", "", false}));
  EXPECT_FALSE(is_over(end, {"eth0", "", false}));
  EXPECT_TRUE(is_over(end, {"eth1", "", false, "n0.eth1-n1.eth0"}));
  EXPECT_FALSE(is_over(end, {"eth1", "", false, "n0.eth1-n3.eth0"})) << "another host on a switch";
}

TEST(HopNames, AreOverACableToARelayThatStandsStillOnlyWhereThatRelays) {
  const CircuitSetup setup = two_hops();
  EXPECT_TRUE(is_over(dialing_end(setup, 0), {"eth1", "", false, "n0.eth1-n1.eth0", true})) << "n1 relays it";
  EXPECT_FALSE(is_over(accepting_end(setup, 0), {"eth0", "", false, "n0.eth1-n1.eth0", true})) << "n0 is its source";
  EXPECT_FALSE(is_over(dialing_end(setup, 1), {"eth2", "", false, "n1.eth2-n2.eth1", true})) << "n2 is its destination";
  EXPECT_TRUE(is_over(accepting_end(setup, 1), {"eth1", "", false, "n1.eth2-n2.eth1", true})) << "n1 relays it";
}

TEST(HopNames, NameTheCableIfThePortsAreUnknown) {
  CircuitSetup setup = two_hops();
  setup.hops[0].cable = "c0";
  EXPECT_EQ(to_text(dialing_end(setup, 0)), "node n0 (cable c0 to n1)");
  EXPECT_EQ(to_text(accepting_end(setup, 0)), "node n1 (cable c0 to n0)");
}

TEST(HopNames, NameAHopWithinOneNode) {
  CircuitSetup setup;
  setup.from_node = "n0";
  setup.hops = {Hop{"local", "10.0.0.1", "n0", "10.0.0.1", 1, false}};
  EXPECT_EQ(to_text(dialing_end(setup, 0)), "node n0 (between two of its processes)");
}

// Set-ups come from untrusted peers.
TEST(HopNames, ArePrintable) {
  CircuitSetup setup = two_hops();
  setup.hops[0].cable = "c\n\x1b[2J";
  EXPECT_EQ(to_text(dialing_end(setup, 0)), "node n0 (cable c??[2J to n1)");
}

TEST(HopNames, LeaveRoomForTheReasonInAFrame) {
  CircuitSetup setup;
  setup.from_node = std::string(routing::kMaxNodeNameBytes, 'a');
  setup.hops = {
      Hop{setup.from_node + ".eth0123456789ab-" + std::string(routing::kMaxNodeNameBytes, 'b') + ".eth0123456789ab",
          "1", std::string(routing::kMaxNodeNameBytes, 'b'), "2", 1, false}};
  EXPECT_LE(to_text(dialing_end(setup, 0)).size(), kMaxFailureText - 300);
}

TEST(NodesOnPath, AreInOrder) {
  EXPECT_EQ(nodes_on_path(two_hops()), "n0 -> n1 -> n2");
}

TEST(NodesOnPath, OmitTheMiddleOfALongPath) {
  CircuitSetup setup;
  setup.from_node = "first";
  setup.hops.resize(kMaxHops, Hop{"c", "1", std::string(40, 'n'), "2", 1, false});
  setup.hops.back().to_node = "last";
  const std::string path = nodes_on_path(setup);
  EXPECT_LE(path.size(), kMaxPathText);
  // Of 129 nodes the first, the last, and as many as fit.
  std::string shown = "first";
  for (int i = 0; i < 5; ++i) shown += " -> " + std::string(40, 'n');
  EXPECT_EQ(path, shown + " -> (122 nodes) -> last");
}

TEST(NodesOnPath, FitsTheLongestNames) {
  CircuitSetup setup;
  setup.from_node = std::string(routing::kMaxNodeNameBytes, 'a');
  setup.hops.resize(kMaxHops, Hop{"c", "1", std::string(routing::kMaxNodeNameBytes, 'n'), "2", 1, false});
  EXPECT_LE(nodes_on_path(setup).size(), kMaxPathText);
  EXPECT_THAT(nodes_on_path(setup), AllOf(StartsWith("aaa"), EndsWith("nnn")));
}

}  // namespace
}  // namespace cableway
