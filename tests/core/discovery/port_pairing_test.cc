#include "core/discovery/port_pairing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace cableway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

WirePort port(PortId id, const std::string& interface, const std::vector<std::string>& addresses) {
  WirePort made{id, interface, {}};
  for (const std::string& address : addresses) {
    const bool local = address.starts_with("fe80");
    made.addresses.push_back(
        {{*routing::parse_port_address(address), static_cast<std::uint8_t>(local ? 64 : 24)}, false});
  }
  return made;
}

// All ports hear each other.
Wire wire(const std::vector<WirePort>& ours, const std::vector<WirePort>& theirs, std::vector<PortPair> up = {}) {
  Wire made{ours, theirs, {}, std::move(up)};
  for (const WirePort& our : ours) {
    for (const WirePort& their : theirs) made.heard.push_back({our.port, their.port});
  }
  return made;
}

std::vector<PortPair> turned(std::vector<PortPair> pairs) {
  for (PortPair& pair : pairs) std::swap(pair.ours, pair.theirs);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

// The subnets decide, whatever the names and numbers.
TEST(PortPairing, FollowsTheSubnets) {
  const std::vector<WirePort> ours = {port(1, "eth0", {"10.0.1.1"}), port(2, "eth1", {"10.0.2.1"})};
  const std::vector<WirePort> theirs = {port(7, "eth0", {"10.0.2.2"}), port(8, "eth1", {"10.0.1.2"})};
  EXPECT_THAT(pair_ports(wire(ours, theirs)), ElementsAre(PortPair{1, 8}, PortPair{2, 7}));
  const std::vector<PortPair> up = {{1, 7}};
  EXPECT_THAT(pair_ports(wire(ours, theirs, up)), ElementsAre(PortPair{1, 8}, PortPair{2, 7}));
}

TEST(PortPairing, FollowsTheNamesWhereNoSubnetDecides) {
  const std::vector<WirePort> ours = {port(3, "eth10", {"fe80::1"}), port(4, "eth9", {"fe80::2"})};
  const std::vector<WirePort> theirs = {port(9, "eth2", {"fe80::3"}), port(8, "eth11", {"fe80::4"})};
  EXPECT_THAT(pair_ports(wire(ours, theirs)), ElementsAre(PortPair{3, 8}, PortPair{4, 9}));
}

TEST(PortPairing, KeepsWhatIsUpWhenAPortIsMissing) {
  const std::vector<WirePort> ours = {port(1, "eth0", {"fe80::1"}), port(2, "eth1", {"fe80::2"})};
  const std::vector<WirePort> theirs = {port(6, "eth1", {"fe80::4"})};
  EXPECT_THAT(pair_ports(wire(ours, theirs)), ElementsAre(PortPair{1, 6}));
  const std::vector<PortPair> up = {{2, 6}};
  EXPECT_THAT(pair_ports(wire(ours, theirs, up)), ElementsAre(PortPair{2, 6}));
  const std::vector<PortPair> gone = {{2, 5}, {3, 6}};  // ports that are not there
  EXPECT_THAT(pair_ports(wire(ours, theirs, gone)), ElementsAre(PortPair{1, 6}));
}

// Functions of one plug whose frames reach one function of the other end only.
TEST(PortPairing, JoinsOnlyPortsThatHearEachOther) {
  Wire apart = wire({port(1, "eth0", {"fe80::1"}), port(2, "eth1", {"fe80::2"})},
                    {port(5, "eth0", {"fe80::3"}), port(6, "eth1", {"fe80::4"})});
  apart.heard = {{1, 6}, {2, 5}};
  EXPECT_THAT(pair_ports(apart), ElementsAre(PortPair{1, 6}, PortPair{2, 5}));
}

TEST(PortPairing, PairsTheRestByNameBesideASubnet) {
  const std::vector<WirePort> ours = {port(1, "eth0", {"fe80::1"}), port(2, "eth1", {"10.0.2.1", "fe80::2"})};
  const std::vector<WirePort> theirs = {port(5, "eth0", {"10.0.2.2", "fe80::3"}), port(6, "eth1", {"fe80::4"})};
  EXPECT_THAT(pair_ports(wire(ours, theirs)), ElementsAre(PortPair{1, 6}, PortPair{2, 5}));
  EXPECT_THAT(pair_ports(wire(ours, {})), IsEmpty());
}

// Both ends see the same ports in any order, from their own side.
TEST(PortPairing, IsTheSameFromBothEnds) {
  std::mt19937 random(7);
  const auto side = [&](PortId first) {
    std::vector<WirePort> ports;
    for (PortId id = first; id < first + 1 + random() % 4; ++id) {
      std::vector<std::string> addresses = {"fe80::" + std::to_string(id)};
      for (std::size_t i = random() % 3; i > 0; --i) {
        addresses.push_back("10.0." + std::to_string(random() % 3) + "." + std::to_string(id * 10 + i));
      }
      ports.push_back(port(id, "eth" + std::to_string(random() % 20), addresses));
    }
    return ports;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<WirePort> ours = side(1);
    std::vector<WirePort> theirs = side(11);
    std::vector<PortPair> up;
    if (random() % 2 == 0)
      up.push_back({1 + static_cast<PortId>(random() % 4), 11 + static_cast<PortId>(random() % 4)});
    const Wire here = wire(ours, theirs, up);
    EXPECT_EQ(pair_ports(here).size(), std::min(ours.size(), theirs.size()));
    // Some of them do not hear each other.
    Wire partly = here;
    std::erase_if(partly.heard, [&](const PortPair&) { return random() % 3 == 0; });
    for (const Wire& each : {here, partly}) {
      Wire there{each.theirs, each.ours, turned(each.heard), turned(each.up)};
      std::shuffle(there.ours.begin(), there.ours.end(), random);
      std::shuffle(there.theirs.begin(), there.theirs.end(), random);
      std::shuffle(there.heard.begin(), there.heard.end(), random);
      EXPECT_EQ(pair_ports(each), turned(pair_ports(there)));
    }
  }
}

}  // namespace
}  // namespace cableway
