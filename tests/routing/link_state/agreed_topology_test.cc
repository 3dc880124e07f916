#include "routing/link_state/agreed_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cableway::routing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kCluster[] = "lab";

// An advertisement of node `name`: port 1 is eth1, and so on.
Advertisement node(const std::string& name, std::uint32_t ports) {
  Advertisement made;
  made.origin = node_id(kCluster, name);
  made.version = {1, 1};
  made.name = name;
  for (std::uint32_t id = 1; id <= ports; ++id) {
    made.ports.push_back({.id = id, .interface = "eth" + std::to_string(id), .plug = "", .root = ""});
  }
  return made;
}

// `theirs`: the neighbour's address, as the hearer has heard; empty: it does not say.
void hear(Advertisement& hearer, std::uint32_t port, const std::string& neighbour, std::uint32_t neighbour_port,
          const std::string& address, const std::string& theirs = "") {
  hearer.adjacencies.push_back({port, node_id(kCluster, neighbour), neighbour_port, *parse_port_address(address), 0});
  if (!theirs.empty()) hearer.adjacencies.back().neighbour_address = *parse_port_address(theirs);
}

absl::StatusOr<AgreedTopology> agree(const std::vector<Advertisement>& nodes) {
  LinkStateDatabase database;
  for (const Advertisement& each : nodes) database.offer(each, Milliseconds(0), Milliseconds(0));
  return agreed_topology(kCluster, database);
}

std::vector<std::string> cable_names(const AgreedTopology& agreed) {
  std::vector<std::string> names;
  for (const Cable& cable : agreed.topology.cables()) names.push_back(cable.name);
  return names;
}

TEST(AgreedTopology, ContainsCablesAdvertisedByBothEnds) {
  Advertisement n0 = node("n0", 1);
  Advertisement n1 = node("n1", 2);
  n0.draining = true;
  n0.ports[0].plug = "p0";
  n1.relay_port = 999;
  n1.ports[1].rate_mbps = 4000;
  hear(n0, 1, "n1", 2, "10.0.0.1");
  hear(n1, 2, "n0", 1, "10.0.0.2");
  const auto agreed = agree({n0, n1});
  ASSERT_TRUE(agreed.ok()) << agreed.status();
  EXPECT_THAT(agreed->left_out, IsEmpty());
  ASSERT_THAT(cable_names(*agreed), ElementsAre("n0.eth1-n1.eth2"));
  const Cable& cable = agreed->topology.cables()[0];
  EXPECT_EQ(cable.rate_mbps, 4000U) << "that of its slower port";
  EXPECT_EQ(cable.a, (Port{NodeIndex{0}, "eth1", "10.0.0.1", "p0"}));
  EXPECT_EQ(cable.b, (Port{NodeIndex{1}, "eth2", "10.0.0.2", ""}));
  EXPECT_EQ(agreed->topology.cluster(), kCluster);
  EXPECT_TRUE(agreed->topology.node(NodeIndex{0}).draining);
  EXPECT_EQ(agreed->topology.node(NodeIndex{1}).relay_port, 999);
}

TEST(AgreedTopology, ACableDrainsIfEitherEndSaysSo) {
  for (const bool first : {true, false}) {
    Advertisement n0 = node("n0", 1);
    Advertisement n1 = node("n1", 2);
    hear(n0, 1, "n1", 2, "10.0.0.1");
    hear(n1, 2, "n0", 1, "10.0.0.2");
    (first ? n0 : n1).adjacencies[0].draining = true;
    const auto agreed = agree({n0, n1});
    ASSERT_TRUE(agreed.ok()) << agreed.status();
    EXPECT_THAT(cable_names(*agreed), IsEmpty());
    ASSERT_EQ(agreed->topology.unused_cables().size(), 1U);
    EXPECT_EQ(agreed->topology.unused_cables()[0].name, "n0.eth1-n1.eth2");
  }
}

TEST(AgreedTopology, ACableLosesWhatItsWorseDirectionDoes) {
  Advertisement n0 = node("n0", 1);
  Advertisement n1 = node("n1", 2);
  hear(n0, 1, "n1", 2, "10.0.0.1");
  hear(n1, 2, "n0", 1, "10.0.0.2");
  n0.adjacencies[0].loss_percent = 4;
  n1.adjacencies[0].loss_percent = 9;
  const auto agreed = agree({n0, n1});
  ASSERT_TRUE(agreed.ok()) << agreed.status();
  ASSERT_THAT(cable_names(*agreed), ElementsAre("n0.eth1-n1.eth2")) << "there is no other one";
  EXPECT_EQ(agreed->topology.cables()[0].loss_percent, 9);
}

TEST(AgreedTopology, OmitsCablesAdvertisedByOneEndOnly) {
  for (const bool lower_one : {true, false}) {
    Advertisement n0 = node("n0", 1);
    Advertisement n1 = node("n1", 1);
    lower_one ? hear(n0, 1, "n1", 1, "10.0.0.1") : hear(n1, 1, "n0", 1, "10.0.0.2");
    const auto agreed = agree({n0, n1});
    ASSERT_TRUE(agreed.ok()) << agreed.status();
    EXPECT_EQ(agreed->topology.node_count(), 2U);
    EXPECT_THAT(cable_names(*agreed), IsEmpty());
  }
}

TEST(AgreedTopology, OmitsCablesOverMismatchedOrMissingPorts) {
  Advertisement n0 = node("n0", 1);
  Advertisement n1 = node("n1", 2);
  hear(n0, 1, "n1", 1, "10.0.0.1");
  hear(n1, 2, "n0", 1, "10.0.0.2");
  EXPECT_THAT(cable_names(*agree({n0, n1})), IsEmpty());
  n1.adjacencies[0].port = 1;
  EXPECT_THAT(cable_names(*agree({n0, n1})), ElementsAre("n0.eth1-n1.eth1"));
  n1.ports.erase(n1.ports.begin());
  EXPECT_THAT(cable_names(*agree({n0, n1})), IsEmpty());
  EXPECT_THAT(cable_names(*agree({n0})), IsEmpty()) << "nobody has heard of n1";
}

TEST(AgreedTopology, CountsDuplicateAdjacenciesOnce) {
  Advertisement n0 = node("n0", 1);
  Advertisement n1 = node("n1", 1);
  for (int i = 0; i < 2; ++i) {
    hear(n0, 1, "n1", 1, "10.0.0.1");
    hear(n1, 1, "n0", 1, "10.0.0.2");
  }
  EXPECT_EQ(agree({n0, n1})->topology.cable_count(), 1U);
}

TEST(AgreedTopology, NodesListPlugsAndRootsOfKnownRate) {
  Advertisement n0 = node("n0", 5);
  Advertisement n1 = node("n1", 1);
  const auto set = [&](std::uint32_t id, const char* plug, std::uint64_t link, const char* root, std::uint64_t rate) {
    AdvertisedPort& port = n0.ports[id - 1];
    port = {.id = id, .interface = port.interface, .plug = plug, .root = root, .link_mbps = link, .root_mbps = rate};
  };
  set(1, "p1", 100'000, "r1", 98'300);
  set(2, "p0", 200'000, "r0", 49'100);
  set(3, "p1", 200'000, "r0", 98'300);  // the same root, read a moment later
  set(4, "p2", 0, "r2", 0);
  set(5, "", 400'000, "", 0);
  hear(n0, 3, "n1", 1, "10.0.0.1");
  hear(n1, 1, "n0", 3, "10.0.0.2");
  const auto agreed = agree({n0, n1});
  ASSERT_TRUE(agreed.ok()) << agreed.status();
  const Node& made = agreed->topology.node(NodeIndex{0});
  EXPECT_THAT(made.plugs, ElementsAre(SharedPart{"p0", 200'000}, SharedPart{"p1", 200'000}));
  EXPECT_THAT(made.roots, ElementsAre(SharedPart{"r0", 98'300}, SharedPart{"r1", 98'300}));
  EXPECT_THAT(agreed->topology.node(NodeIndex{1}).plugs, IsEmpty());
  ASSERT_EQ(agreed->topology.cable_count(), 1U);
  EXPECT_EQ(agreed->topology.cables()[0].a, (Port{NodeIndex{0}, "eth3", "10.0.0.1", "p1", "r0"}));
}

TEST(AgreedTopology, ACableIsNoFasterThanItsPlugsAndRoots) {
  const auto rate = [](const auto& change) {
    Advertisement n0 = node("n0", 1);
    Advertisement n1 = node("n1", 2);
    hear(n0, 1, "n1", 1, "10.0.0.1");
    hear(n1, 1, "n0", 1, "10.0.0.2");
    change(n0.ports[0], n1.ports);
    const auto agreed = agree({n0, n1});
    return agreed.ok() ? agreed->topology.cables().front().rate_mbps : 0;
  };
  using Port = AdvertisedPort;
  using Ports = std::vector<AdvertisedPort>;
  EXPECT_EQ(rate([](Port&, Ports&) {}), kDefaultRateMbps);
  EXPECT_EQ(rate([](Port& n0, Ports&) {
              n0.root = "r0";
              n0.root_mbps = 5000;
            }),
            5000U);
  EXPECT_EQ(rate([](Port& n0, Ports&) {
              n0.plug = "p0";
              n0.link_mbps = 2500;
            }),
            2500U);
  EXPECT_EQ(rate([](Port& n0, Ports&) { n0.root_mbps = 5000; }), kDefaultRateMbps) << "of no root";
  // The link of one function is known, that of the other is not: its rate is the default.
  EXPECT_EQ(rate([](Port&, Ports& n1) {
              n1[0].plug = n1[1].plug = "p0";
              n1[1].link_mbps = 1000;
            }),
            1000U);
}

TEST(AgreedTopology, ACablesLatencyIsTheLowerThatAnEndHasMeasured) {
  Advertisement n0 = node("n0", 1);
  Advertisement n1 = node("n1", 1);
  hear(n0, 1, "n1", 1, "10.0.0.1");
  hear(n1, 1, "n0", 1, "10.0.0.2");
  const auto latency = [&](std::uint32_t at_n0, std::uint32_t at_n1) {
    n0.adjacencies[0].latency_ns = at_n0;
    n1.adjacencies[0].latency_ns = at_n1;
    return agree({n0, n1})->topology.cables().front().latency_us;
  };
  EXPECT_EQ(latency(0, 0), std::nullopt);
  EXPECT_EQ(latency(2'500, 0), 2.5);
  EXPECT_EQ(latency(0, 1'800), 1.8);
  EXPECT_EQ(latency(2'500, 1'800), 1.8);
  EXPECT_EQ(latency(1'799, 2'500), 1.799);
  constexpr std::uint32_t kLongest = 0xffffffff;  // more than a topology can have
  EXPECT_EQ(latency(kLongest, kLongest), kMaxLatencyUs);
}

// A cable with such an address is left out with a reason, and the topology is still computed.
TEST(AgreedTopology, LeavesOutCablesWithDuplicateAddresses) {
  Advertisement n0 = node("n0", 1);
  Advertisement n1 = node("n1", 2);
  Advertisement n2 = node("n2", 1);
  hear(n0, 1, "n1", 1, "10.0.0.1");
  hear(n1, 1, "n0", 1, "10.0.0.2");
  hear(n1, 2, "n2", 1, "10.0.1.1");
  hear(n2, 1, "n1", 2, "10.0.0.1");
  const auto agreed = agree({n0, n1, n2});
  ASSERT_TRUE(agreed.ok()) << agreed.status();
  EXPECT_EQ(agreed->topology.cable_count(), 1U);
  EXPECT_THAT(agreed->left_out,
              ElementsAre(AllOf(HasSubstr("address 10.0.0.1 of node "), HasSubstr(" is also used by node "),
                                HasSubstr("n0"), HasSubstr("n2"), HasSubstr("and node n1 has cables to both"),
                                HasSubstr("change one of them"))));
}

// Nobody knows two ports by one address: anyone could claim any address elsewhere.
TEST(AgreedTopology, AllowsEqualAddressesOfNodesThatShareNoNeighbour) {
  Advertisement n0 = node("n0", 1);
  Advertisement n1 = node("n1", 2);
  Advertisement n2 = node("n2", 2);
  Advertisement n3 = node("n3", 1);
  hear(n0, 1, "n1", 1, "10.0.0.1");
  hear(n1, 1, "n0", 1, "10.0.0.2");
  hear(n1, 2, "n2", 1, "10.0.1.1");
  hear(n2, 1, "n1", 2, "10.0.1.2");
  hear(n2, 2, "n3", 1, "10.0.0.1");
  hear(n3, 1, "n2", 2, "10.0.0.2");
  const auto agreed = agree({n0, n1, n2, n3});
  ASSERT_TRUE(agreed.ok()) << agreed.status();
  EXPECT_THAT(agreed->left_out, IsEmpty());
  EXPECT_EQ(agreed->topology.cable_count(), 3U);
}

TEST(AgreedTopology, AllowsEqualLinkLocalAddressesOfDifferentNodes) {
  Advertisement n0 = node("n0", 1);
  Advertisement n1 = node("n1", 1);
  hear(n0, 1, "n1", 1, "fe80::1");
  hear(n1, 1, "n0", 1, "fe80::1");
  const auto agreed = agree({n0, n1});
  ASSERT_TRUE(agreed.ok()) << agreed.status();
  EXPECT_THAT(agreed->left_out, IsEmpty());
  ASSERT_EQ(agreed->topology.cable_count(), 1U);
  EXPECT_EQ(agreed->topology.cables()[0].a.address, "fe80::1%eth1");
}

TEST(AgreedTopology, LeavesOutInconsistentCables) {
  Advertisement n0 = node("n0", 2);
  Advertisement n1 = node("n1", 2);
  hear(n0, 1, "n1", 1, "10.0.0.1");
  hear(n1, 1, "n0", 1, "fd00::2");
  EXPECT_THAT(agree({n0, n1})->left_out, ElementsAre(HasSubstr("use different address families")));

  n1.adjacencies[0].address = *parse_port_address("10.0.0.2");
  hear(n0, 2, "n1", 2, "10.0.1.1");
  hear(n1, 2, "n0", 2, "10.0.1.2");
  EXPECT_THAT(agree({n0, n1})->left_out, IsEmpty());
  n0.ports[1].interface = "eth1";
  n1.ports[1].interface = "eth1";
  const auto agreed = agree({n0, n1});
  EXPECT_THAT(agreed->left_out, ElementsAre(HasSubstr("another cable has the same name")));
  EXPECT_EQ(agreed->topology.cable_count(), 1U);
}

// A name whose node comes before all of these: of two cables that exclude each other, its own would be kept.
std::string name_before(const std::vector<std::string>& names) {
  for (int i = 0;; ++i) {
    const std::string name = "x" + std::to_string(i);
    if (std::all_of(names.begin(), names.end(),
                    [&](const std::string& each) { return node_id(kCluster, name) < node_id(kCluster, each); })) {
      return name;
    }
  }
}

// n and r have a cable, and so have r and x.
struct ThreeNodes {
  std::string liar = name_before({"n", "r"});
  Advertisement n = node("n", 1);
  Advertisement r = node("r", 2);
  Advertisement x = node(liar, 1);

  ThreeNodes() {
    hear(n, 1, "r", 1, "10.0.0.1", "10.0.0.2");
    hear(r, 1, "n", 1, "10.0.0.2", "10.0.0.1");
    hear(r, 2, liar, 1, "10.0.1.2", "10.0.1.1");
    hear(x, 1, "r", 2, "10.0.1.1", "10.0.1.2");
  }
  AgreedTopology agreed() const { return *agree({n, r, x}); }
};

TEST(AgreedTopology, ANeighbourThatClaimsAnAddressTakesNoCable) {
  EXPECT_EQ(ThreeNodes().agreed().topology.cable_count(), 2U);
  for (const char* stolen : {"10.0.0.1", "10.0.0.2", "10.0.1.2", "fd00::1"}) {
    for (const bool says_others : {true, false}) {
      ThreeNodes nodes;
      nodes.x.adjacencies[0].address = *parse_port_address(stolen);
      if (!says_others) nodes.x.adjacencies[0].neighbour_address.reset();
      const AgreedTopology agreed = nodes.agreed();
      EXPECT_THAT(cable_names(agreed), ElementsAre("n.eth1-r.eth1")) << stolen;
      EXPECT_THAT(agreed.left_out,
                  ElementsAre(AllOf(HasSubstr("cable r.eth2-" + nodes.liar + ".eth1: node " + nodes.liar),
                                    HasSubstr(std::string("advertises address ") + stolen),
                                    HasSubstr("but node r hears 10.0.1.1 in its hellos"))));
    }
  }
}

TEST(AgreedTopology, ANeighbourThatDeniesAnAddressLosesItsOwnCableOnly) {
  ThreeNodes nodes;
  nodes.x.adjacencies[0].neighbour_address = *parse_port_address("10.0.0.1");
  EXPECT_THAT(cable_names(nodes.agreed()), ElementsAre("n.eth1-r.eth1"));
}

// n has another address: its own advertisement says so first, or that of r. A moment later both do.
TEST(AgreedTopology, ACableWhoseAddressChangesIsBackOnceBothEndsSaySo) {
  for (const bool own_first : {true, false}) {
    ThreeNodes nodes;
    const auto say = [&](bool own) {
      const PortAddress address = *parse_port_address("10.0.0.7");
      own ? nodes.n.adjacencies[0].address = address : nodes.r.adjacencies[0].neighbour_address.emplace(address);
    };
    say(own_first);
    EXPECT_EQ(nodes.agreed().topology.cable_count(), 1U);
    say(!own_first);
    const AgreedTopology agreed = nodes.agreed();
    EXPECT_THAT(agreed.left_out, IsEmpty());
    EXPECT_EQ(agreed.topology.cable_count(), 2U);
    EXPECT_EQ(agreed.topology.cable(*agreed.topology.find_cable("n.eth1-r.eth1")).a.address, "10.0.0.7");
  }
}

TEST(AgreedTopology, ScopesOfHeardAddressesDoNotMatter) {
  Advertisement n0 = node("n0", 1);
  Advertisement n1 = node("n1", 1);
  hear(n0, 1, "n1", 1, "fe80::1", "fe80::2%eth1");
  hear(n1, 1, "n0", 1, "fe80::2", "fe80::1%eth7");
  EXPECT_EQ(agree({n0, n1})->topology.cable_count(), 1U);
  n1.adjacencies[0].neighbour_address = *parse_port_address("fe80::3");
  EXPECT_EQ(agree({n0, n1})->topology.cable_count(), 0U);
}

// An invented cable of nodes whose names and interfaces look like those of a real one.
TEST(AgreedTopology, InventedNodesTakeNoCablesName) {
  const auto add = [](std::vector<Advertisement>& nodes, const std::string& a, const std::string& b,
                      const std::string& interface) {
    for (const bool first : {true, false}) {
      Advertisement made = node(first ? a : b, 1);
      made.ports[0].interface = interface;
      hear(made, 1, first ? b : a, 1, first ? "10.0.0.1" : "10.0.0.2");
      nodes.push_back(std::move(made));
    }
  };
  std::vector<Advertisement> nodes;
  add(nodes, "gpu1.lan", "gpu2.lan", "eth0");
  add(nodes, "gpu1", "gpu2", "lan.eth0");
  const auto agreed = agree(nodes);
  ASSERT_TRUE(agreed.ok()) << agreed.status();
  EXPECT_THAT(agreed->left_out, IsEmpty());
  EXPECT_THAT(cable_names(*agreed), UnorderedElementsAre("gpu1.lan:eth0:gpu2.lan:eth0", "gpu1:lan.eth0:gpu2:lan.eth0"));
}

TEST(AgreedTopology, RejectsAnEmptyDatabase) {
  EXPECT_EQ(agree({}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cableway::routing
