#include "routing/topology/cable_name.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "routing/text/node_name.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

TEST(CableName, IsTheSameSeenFromBothEnds) {
  EXPECT_EQ(discovered_cable_name("n2", "eth1", "n10", "eth0"), "n2.eth1-n10.eth0");
  EXPECT_EQ(discovered_cable_name("n10", "eth0", "n2", "eth1"), "n2.eth1-n10.eth0");
}

TEST(CableName, ReplacesInvalidCharacters) {
  const std::string name = discovered_cable_name("n0", "eth0@if+7", "n1", "enp1s0f0np0");
  EXPECT_EQ(name, "n0.eth0_if_7-n1.enp1s0f0np0");
  EXPECT_TRUE(is_valid_name(name, kMaxCableNameLength));
}

TEST(CableName, FitsForTheLongestEnds) {
  const std::string interface(15, 'e');
  const std::string longest = discovered_cable_name(std::string(kMaxNodeNameBytes, 'a'), interface,
                                                    std::string(kMaxNodeNameBytes, 'b'), interface);
  EXPECT_TRUE(is_valid_name(longest, kMaxCableNameLength));
}

TEST(CableName, ContainsTheInterfacesOfTheTwoNodes) {
  const auto interfaces = [](const std::string& node, const std::string& other) {
    return interfaces_in_name(discovered_cable_name(node, "eth-1.7", other, "enp1s0"), node, other);
  };
  EXPECT_EQ(interfaces("n2", "n10"), (CableInterfaces{"eth-1.7", "enp1s0"}));
  EXPECT_EQ(interfaces("n10", "n2"), (CableInterfaces{"eth-1.7", "enp1s0"}));
  EXPECT_EQ(interfaces("n0-n1.x", "n0"), (CableInterfaces{"eth-1.7", "enp1s0"}));
  EXPECT_EQ(interfaces_in_name("n0.eth0-n1.eth1", "n1", "n0"), (CableInterfaces{"eth1", "eth0"}));
}

TEST(CableName, HasNoInterfacesInOtherForms) {
  for (const char* name :
       {"", "c0", "n0-n1", "n0.-n1.", "n0.eth0-n1.", "n0.-n1.eth1", "n0.eth0-n2.eth1", "n1.eth1-n0.eth0", "n0.eth0"}) {
    EXPECT_EQ(interfaces_in_name(name, "n0", "n1"), std::nullopt) << name;
  }
}

TEST(CableName, IsADefaultInEitherDirectionAndWithItsInterfacesOnly) {
  const auto is_default = [](const std::string& name) {
    Cable cable = sample_cable(0, 0, 1);
    cable.name = name;
    cable.a.interface = "eth0";
    cable.b.interface = "eth1";
    const Topology topology = make_topology(sample_nodes(2), {cable});
    return has_default_name(topology, topology.cable(CableIndex{0}));
  };
  EXPECT_TRUE(is_default("n0-n1"));
  EXPECT_TRUE(is_default("n1-n0"));
  EXPECT_TRUE(is_default("n0.eth0-n1.eth1"));
  EXPECT_FALSE(is_default("n0.eth1-n1.eth0"));
  EXPECT_FALSE(is_default("n1.eth1-n0.eth0"));  // not a name that discovery produces
  EXPECT_FALSE(is_default("c0"));
}

}  // namespace
}  // namespace cableway::routing
