#include "routing/topology/cable_name.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "routing/text/node_name.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

TEST(CableName, IsTheSameSeenFromBothEnds) {
  EXPECT_EQ(discovered_cable_name("n2", "eth1", "n10", "eth0"), "n2.eth1-n10.eth0");
  EXPECT_EQ(discovered_cable_name("n10", "eth0", "n2", "eth1"), "n2.eth1-n10.eth0");
}

TEST(CableName, HasFieldsWhereDotsAndDashesWouldNotTellThemApart) {
  EXPECT_EQ(discovered_cable_name("gpu1.lan", "eth0", "gpu2.lan", "eth0"), "gpu1.lan:eth0:gpu2.lan:eth0");
  EXPECT_EQ(discovered_cable_name("n10", "br-x", "n2", "eth0"), "n2:eth0:n10:br-x");
  EXPECT_EQ(discovered_cable_name("n0", "eth0.7", "n1", "eth0"), "n0:eth0.7:n1:eth0");
  EXPECT_EQ(discovered_cable_name("n0", "eth0@if+7", "n1", "eth_0"), "n0:eth0@if+7:n1:eth_0");
  EXPECT_EQ(discovered_cable_name("gpu-1", "eth_0", "gpu-2", "enp1s0"), "gpu-1.eth_0-gpu-2.enp1s0");
}

// Of all pairs of ends whose names could be taken for each other's.
TEST(CableName, TellsAllCablesApart) {
  const std::vector<std::string> nodes = {"a", "b", "a-b", "b-a", "a.b", "b.a", "a-b.a", "a.b-a", "a.b-a.b", "a_b"};
  const std::vector<std::string> interfaces = {"a",   "b",     "a-b",   "a.b",   "b-a.b",   "a.b-a", "a_b",
                                               "a@b", "a.b-b", "b-a.a", "a-b.a", "a.b-a.b", "b-b"};
  std::map<std::string, std::tuple<std::string, std::string, std::string, std::string>> named;
  std::size_t cables = 0;
  for (const std::string& node : nodes) {
    for (const std::string& other : nodes) {
      if (!natural_less(node, other)) continue;
      for (const std::string& interface : interfaces) {
        for (const std::string& other_interface : interfaces) {
          const std::string name = discovered_cable_name(node, interface, other, other_interface);
          EXPECT_EQ(name, discovered_cable_name(other, other_interface, node, interface));
          EXPECT_TRUE(is_valid_cable_name(name)) << name;
          EXPECT_EQ(interfaces_in_name(name, node, other), (CableInterfaces{interface, other_interface})) << name;
          EXPECT_EQ(interfaces_in_name(name, other, node), (CableInterfaces{other_interface, interface})) << name;
          const auto [same, is_new] = named.try_emplace(name, node, interface, other, other_interface);
          EXPECT_TRUE(is_new) << name << " is also of " << std::get<0>(same->second) << " and "
                              << std::get<2>(same->second);
          ++cables;
        }
      }
    }
  }
  EXPECT_EQ(named.size(), cables);
}

TEST(CableName, FitsForTheLongestEnds) {
  const std::string node(kMaxNodeNameBytes - 1, 'a');
  for (const char last : {'e', '-'}) {
    const std::string interface = std::string(14, 'e') + last;
    const std::string longest = discovered_cable_name(node + 'a', interface, node + 'b', interface);
    EXPECT_EQ(longest.size(), kMaxCableNameLength - 1);
    EXPECT_TRUE(is_valid_cable_name(longest));
  }
}

TEST(CableName, IsValidWithFourFieldsOrNone) {
  for (const char* name : {"c0", "n0-n1", "n0.eth0-n1.eth0", "a.lan:eth0:b.lan:eth0", "a:e@1:b:e-1.7"}) {
    EXPECT_TRUE(is_valid_cable_name(name)) << name;
  }
  for (const char* name : {"",
                           ":",
                           ":::",
                           "a:b",
                           "a:eth0:b",
                           "a:eth0:b:",
                           ":eth0:b:eth0",
                           "a::b:eth0",
                           "a:eth0:b:eth0:",
                           "a:eth0:b:eth0:c",
                           "a:eth0:.b:eth0",
                           "-a:eth0:b:eth0",
                           "a:-e:b:eth0",
                           "a:e 0:b:eth0",
                           "a/b:eth0:c:eth0",
                           "a:e/0:b:eth0",
                           "a:..:b:eth0",
                           "a:e\"0:b:eth0",
                           "a b",
                           "n0.eth@0-n1.eth0"}) {
    EXPECT_FALSE(is_valid_cable_name(name)) << name;
    EXPECT_NE(cable_name_fault(name).find("; expected "), std::string::npos) << name;
  }
  EXPECT_FALSE(is_valid_cable_name(std::string(kMaxNodeNameBytes + 1, 'a') + ":eth0:b:eth0"));
  EXPECT_FALSE(is_valid_cable_name(std::string(kMaxCableNameLength + 1, 'c')));
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
       {"", "c0", "n0-n1", "n0.-n1.", "n0.eth0-n1.", "n0.-n1.eth1", "n0.eth0-n2.eth1", "n1.eth1-n0.eth0", "n0.eth0",
        "n0.eth-0-n1.eth1", "n0.eth0-n1.eth-1", "n0.eth.0-n1.eth1", "n0:eth0:n1:eth1", "n0:eth0:n1", "n1:eth-1:n0:eth0",
        "n0:eth-0:n2:eth1", "n0:eth-0:n1:eth1:"}) {
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
