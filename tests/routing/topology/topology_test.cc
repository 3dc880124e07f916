#include "routing/topology/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "routing/topology/disconnected.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string check_error(std::vector<Node> nodes, std::vector<Cable> cables) {
  const auto topology = Topology::create("test", std::move(nodes), std::move(cables));
  EXPECT_FALSE(topology.ok());
  EXPECT_TRUE(topology.ok() || absl::IsInvalidArgument(topology.status()));
  return topology.ok() ? "" : std::string(topology.status().message());
}

TEST(Topology, DoesNotDependOnInputOrder) {
  // n10 sorts after n2; ends are swapped so that the lower node is a; cables are sorted by their ends.
  std::vector<Node> nodes = {{"n10", 1}, {"n2", 2}, {"n1", 3}};
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 2), sample_cable(2, 1, 2)};
  const Topology topology = make_topology(nodes, cables);

  std::vector<Node> turned_nodes = {{"n1", 3}, {"n2", 2}, {"n10", 1}};
  std::vector<Cable> turned_cables = {cables[2], cables[0], cables[1]};
  for (Cable& cable : turned_cables) {
    std::swap(cable.a, cable.b);
    cable.a.node.value = 2 - cable.a.node.value;
    cable.b.node.value = 2 - cable.b.node.value;
  }
  EXPECT_EQ(topology, make_topology(turned_nodes, turned_cables));

  EXPECT_EQ(topology.node(NodeIndex{0}).name, "n1");
  EXPECT_EQ(topology.node(NodeIndex{1}).name, "n2");
  EXPECT_EQ(topology.node(NodeIndex{2}).name, "n10");
  EXPECT_EQ(topology.node(NodeIndex{2}).relay_port, 1);
  EXPECT_EQ(topology.cable(CableIndex{0}).name, "c2");  // n1-n2
  EXPECT_EQ(topology.cable(CableIndex{1}).name, "c1");  // n1-n10
  EXPECT_EQ(topology.cable(CableIndex{2}).name, "c0");  // n2-n10
  EXPECT_EQ(topology.cable(CableIndex{1}).a.node, NodeIndex{0});
  EXPECT_EQ(topology.cable(CableIndex{1}).a.address, "10.0.1.2");
}

TEST(Topology, DiffersIfAnyValueDiffers) {
  const auto with = [](const std::function<void(std::vector<Node>&, std::vector<Cable>&)>& change) {
    std::vector<Node> nodes = sample_nodes(2);
    std::vector<Cable> cables = {sample_cable(0, 0, 1)};
    change(nodes, cables);
    return make_topology(nodes, cables);
  };
  const Topology base = with([](auto&, auto&) {});
  EXPECT_EQ(base, with([](auto&, auto&) {}));
  EXPECT_NE(base, with([](auto& nodes, auto&) { nodes[1].relay_port = 1; }));
  EXPECT_NE(base, with([](auto& nodes, auto&) { nodes[1].draining = true; }));
  EXPECT_NE(base, with([](auto&, auto& cables) { cables[0].b.plug = "p0"; }));
  EXPECT_NE(base, with([](auto&, auto& cables) { cables[0].b.root = "r0"; }));
  EXPECT_NE(base, with([](auto& nodes, auto&) { nodes[1].plugs = {{"p0", 1}}; }));
  EXPECT_NE(base, with([](auto& nodes, auto&) { nodes[1].roots = {{"r0", 1}}; }));
  EXPECT_NE(base, with([](auto&, auto& cables) { cables[0].latency_us = 0; })) << "known, and unknown";
  EXPECT_NE(base, with([](auto&, auto& cables) { cables[0].rate_mbps = 1; }));
  EXPECT_NE(base, with([](auto&, auto& cables) { cables[0].routed = true; }));
  EXPECT_NE(base, with([](auto&, auto& cables) { cables[0].draining = true; }));
  EXPECT_NE(base, with([](auto&, auto& cables) { cables[0].a.address = "10.9.9.9"; }));
}

// n0 - n1 - n2, and between n0 and n1 two cables that drain.
TEST(Topology, ListsDrainingCablesByThemselves) {
  std::vector<Cable> cables = {sample_cable(3, 1, 0), sample_cable(1, 0, 1), sample_cable(2, 0, 1),
                               sample_cable(0, 1, 2)};
  cables[0].draining = cables[2].draining = true;
  const Topology topology = make_topology(sample_nodes(3), cables);
  ASSERT_EQ(topology.cable_count(), 2U);
  EXPECT_EQ(topology.cable(CableIndex{0}).name, "c1");
  EXPECT_EQ(topology.cable(CableIndex{1}).name, "c0");
  ASSERT_EQ(topology.unused_cables().size(), 2U);
  EXPECT_EQ(topology.unused_cables()[0].name, "c2");
  EXPECT_EQ(topology.unused_cables()[1].name, "c3");
  EXPECT_EQ(topology.unused_cables()[1].a.node, NodeIndex{0});
  EXPECT_EQ(topology.cables_between(NodeIndex{0}, NodeIndex{1}).size(), 1U);
  EXPECT_FALSE(topology.find_cable("c2").has_value());
}

TEST(Topology, ChecksDrainingCablesAsOthers) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(0, 0, 1)};
  cables[1].draining = true;
  EXPECT_FALSE(Topology::create("lab", sample_nodes(2), cables).ok()) << "two of one name";
}

TEST(Topology, IsConnectedByDrainingCablesForItsReader) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 2, 3), sample_cable(2, 1, 3)};
  cables[2].draining = true;
  const Topology two_parts = make_topology(sample_nodes(4), cables);
  EXPECT_EQ(two_parts.components().size(), 2U);
  EXPECT_FALSE(find_disconnected(two_parts).has_value());
  const Topology three_parts = make_topology(sample_nodes(6), cables);
  ASSERT_TRUE(find_disconnected(three_parts).has_value());
  EXPECT_EQ(find_disconnected(three_parts)->node, NodeIndex{4});
}

TEST(Topology, SortsPlugsAndRootsByName) {
  std::vector<Node> nodes = sample_nodes(1);
  nodes[0].plugs = {{"p1", 1}, {"p0", 2}};
  nodes[0].roots = {{"r9", 1}, {"r10", 2}, {"r0", 3}};
  const Topology topology = make_topology(nodes, {});
  EXPECT_THAT(topology.node(NodeIndex{0}).plugs, ElementsAre(SharedPart{"p0", 2}, SharedPart{"p1", 1}));
  EXPECT_THAT(topology.node(NodeIndex{0}).roots,
              ElementsAre(SharedPart{"r0", 3}, SharedPart{"r10", 2}, SharedPart{"r9", 1}));
}

TEST(Topology, StepsOfTenMillisecondsOfLatencyCost) {
  const auto cost = [](std::optional<double> latency_us) {
    std::vector<Cable> cables = {sample_cable(0, 0, 1)};
    cables[0].latency_us = latency_us;
    return make_topology(sample_nodes(2), cables).latency_cost_ns(CableIndex{0});
  };
  EXPECT_EQ(cost(std::nullopt), 0U);
  EXPECT_EQ(cost(0), 0U);
  EXPECT_EQ(cost(9999.999), 0U);
  EXPECT_EQ(cost(10000), 10'000'000U);
  EXPECT_EQ(cost(29999.9), 20'000'000U);
  EXPECT_EQ(cost(kMaxLatencyUs), 1'000'000'000U);
}

TEST(Topology, LooksUpByName) {
  const Topology ring = sample_topology(12, ring_pairs(12));
  for (std::uint32_t i = 0; i < 12; ++i) EXPECT_EQ(ring.find_node("n" + std::to_string(i)), NodeIndex{i});
  EXPECT_EQ(ring.find_node("n12"), std::nullopt);
  EXPECT_EQ(ring.find_node("n01"), std::nullopt);
  EXPECT_EQ(ring.find_node(""), std::nullopt);
  for (std::uint32_t i = 0; i < 12; ++i) {
    const auto cable = ring.find_cable("c" + std::to_string(i));
    ASSERT_TRUE(cable.has_value());
    EXPECT_EQ(ring.cable(*cable).name, "c" + std::to_string(i));
  }
  EXPECT_EQ(ring.find_cable("c12"), std::nullopt);
}

TEST(Topology, ListsAdjacenciesInOrderAndParallelCablesTogether) {
  const Topology topology = sample_topology(4, {{2, 0}, {0, 1}, {0, 2}, {3, 2}, {1, 0}});
  // Cables in canonical order: c1 c4 (n0-n1), c0 c2 (n0-n2), c3 (n2-n3).
  const auto adjacency = [](std::uint32_t node, std::uint32_t cable) {
    return Adjacency{NodeIndex{node}, CableIndex{cable}};
  };
  EXPECT_THAT(topology.adjacencies(NodeIndex{0}),
              ElementsAre(adjacency(1, 0), adjacency(1, 1), adjacency(2, 2), adjacency(2, 3)));
  EXPECT_THAT(topology.adjacencies(NodeIndex{2}), ElementsAre(adjacency(0, 2), adjacency(0, 3), adjacency(3, 4)));
  EXPECT_THAT(topology.cables_between(NodeIndex{0}, NodeIndex{2}), ElementsAre(adjacency(2, 2), adjacency(2, 3)));
  EXPECT_THAT(topology.cables_between(NodeIndex{2}, NodeIndex{0}), ElementsAre(adjacency(0, 2), adjacency(0, 3)));
  EXPECT_THAT(topology.cables_between(NodeIndex{1}, NodeIndex{3}), IsEmpty());
  EXPECT_EQ(topology.port_at(CableIndex{4}, NodeIndex{2}).address, "10.0.3.2");
  EXPECT_EQ(topology.port_opposite(CableIndex{4}, NodeIndex{2}).address, "10.0.3.1");
  EXPECT_EQ(topology.neighbour_over(CableIndex{4}, NodeIndex{2}), NodeIndex{3});
  EXPECT_EQ(topology.neighbour_over(CableIndex{4}, NodeIndex{3}), NodeIndex{2});
}

TEST(Topology, ReturnsItsComponents) {
  const Topology topology = sample_topology(6, {{0, 4}, {1, 2}, {2, 5}});
  EXPECT_THAT(topology.components(),
              ElementsAre(ElementsAre(NodeIndex{0}, NodeIndex{4}),
                          ElementsAre(NodeIndex{1}, NodeIndex{2}, NodeIndex{5}), ElementsAre(NodeIndex{3})));
  EXPECT_EQ(sample_topology(6, ring_pairs(6)).components().size(), 1U);
}

TEST(Topology, RefusesBadNodes) {
  EXPECT_THAT(check_error({}, {}), HasSubstr("there are no nodes; expected at least one"));
  EXPECT_THAT(check_error(sample_nodes(kMaxNodes + 1), {}), HasSubstr("there are 4097 nodes; expected at most 4096"));
  EXPECT_THAT(check_error({{"n 0"}}, {}), HasSubstr("node name \"n 0\" is not valid; expected 1 to 63 characters"));
  EXPECT_THAT(check_error({{"n0"}, {"n0"}}, {}), HasSubstr("node name \"n0\" is used twice; expected"));
  EXPECT_THAT(check_error({{"n0", 0}}, {}), HasSubstr("relay_port of node \"n0\" is 0; expected a TCP port"));
  EXPECT_FALSE(Topology::create("a b", {{"n0"}}, {}).ok());
}

TEST(Topology, RefusesBadPlugsAndRoots) {
  const auto error = [](std::vector<SharedPart> plugs, std::vector<SharedPart> roots) {
    std::vector<Node> nodes = sample_nodes(2);
    nodes[1].plugs = std::move(plugs);
    nodes[1].roots = std::move(roots);
    return check_error(nodes, {});
  };
  constexpr char kExpected[] = "of node \"n1\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ : -";
  EXPECT_THAT(error({{"p/0", 1}}, {}), AllOf(HasSubstr("plug \"p/0\" "), HasSubstr(kExpected)));
  EXPECT_THAT(error({{"", 1}}, {}), AllOf(HasSubstr("plug \"\" "), HasSubstr(kExpected)));
  EXPECT_THAT(error({}, {{std::string(64, 'r'), 1}}), HasSubstr(kExpected));
  EXPECT_THAT(error({}, {{"r0", 1}, {"r1", 1}, {"r0", 2}}),
              HasSubstr("root \"r0\" of node \"n1\" is listed twice; expected each root once"));
  EXPECT_THAT(error({{"p0", 0}}, {}),
              HasSubstr("rate_mbps of plug \"p0\" of node \"n1\" is 0; expected 1 to 10000000"));
  EXPECT_THAT(error({}, {{"r0", kMaxRateMbps + 1}}),
              HasSubstr("rate_mbps of root \"r0\" of node \"n1\" is 10000001; expected 1 to 10000000"));
  std::vector<SharedPart> many;
  for (std::size_t i = 0; i < kMaxSharedParts; ++i) many.push_back({"x" + std::to_string(i), kMaxRateMbps});
  std::vector<Node> nodes = sample_nodes(1);
  nodes[0].plugs = nodes[0].roots = many;
  EXPECT_TRUE(Topology::create("test", nodes, {}).ok()) << "a plug and a root may have one name";
  many.push_back({"one-more", 1});
  EXPECT_THAT(error(many, {}), HasSubstr("node \"n1\" has 65 plugs; expected at most 64"));
  EXPECT_THAT(error({}, many), HasSubstr("node \"n1\" has 65 roots; expected at most 64"));
}

TEST(Topology, RefusesTooManyCables) {
  std::vector<Cable> cables(kMaxCables + 1, sample_cable(0, 0, 1));
  EXPECT_THAT(check_error(sample_nodes(2), cables), HasSubstr("there are 65537 cables; expected at most 65536"));
}

struct BadCable {
  const char* what;
  std::function<void(Cable&)> break_it;  // breaks the second of two cables
  const char* expected_error;
};

std::ostream& operator<<(std::ostream& out, const BadCable& param) {
  return out << param.what;
}

class BadCableTest : public ::testing::TestWithParam<BadCable> {};

TEST_P(BadCableTest, IsRefused) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2)};
  GetParam().break_it(cables[1]);
  EXPECT_THAT(check_error(sample_nodes(3), cables), HasSubstr(GetParam().expected_error)) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Topology, BadCableTest,
    ::testing::Values(
        BadCable{"name", [](Cable& cable) { cable.name = "a/b"; }, "cable name \"a/b\" is not valid; expected"},
        BadCable{"duplicate name", [](Cable& cable) { cable.name = "c0"; },
                 "cable name \"c0\" is used twice; expected"},
        BadCable{"no such node", [](Cable& cable) { cable.b.node.value = 3; },
                 "ends at node index 3, which does not exist; expected less than 3"},
        BadCable{"self", [](Cable& cable) { cable.b.node = cable.a.node; },
                 "joins node \"n1\" to itself; expected two different nodes"},
        BadCable{"rate 0", [](Cable& cable) { cable.rate_mbps = 0; }, "rate_mbps of cable \"c1\" is 0; expected 1 to"},
        BadCable{"rate", [](Cable& cable) { cable.rate_mbps = kMaxRateMbps + 1; },
                 "is 10000001; expected 1 to 10000000"},
        BadCable{"negative latency", [](Cable& cable) { cable.latency_us = -1; }, "latency_us of cable \"c1\" is -1;"},
        BadCable{"long latency", [](Cable& cable) { cable.latency_us = 1'000'001; }, "; expected 0 to 1e+06"},
        BadCable{"no number", [](Cable& cable) { cable.latency_us = std::numeric_limits<double>::quiet_NaN(); },
                 "is nan; expected 0 to"},
        BadCable{"no address", [](Cable& cable) { cable.a.address = ""; },
                 "address \"\" is not an IP address; expected"},
        BadCable{"families", [](Cable& cable) { cable.b.address = "fd00::1"; },
                 "are of different families; expected both IPv4 or both IPv6"},
        BadCable{"interface", [](Cable& cable) { cable.a.interface = "a/b"; },
                 "interface \"a/b\" of node \"n1\" is not valid"},
        BadCable{"plug", [](Cable& cable) { cable.a.plug = "p/0"; },
                 "plug \"p/0\" of node \"n1\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ : -"},
        BadCable{"long plug", [](Cable& cable) { cable.b.plug = std::string(64, 'p'); },
                 "of node \"n2\" is not valid;"},
        BadCable{"root", [](Cable& cable) { cable.a.root = "r 0"; },
                 "root \"r 0\" of node \"n1\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ : -"},
        BadCable{"long root", [](Cable& cable) { cable.b.root = std::string(64, 'r'); },
                 "of node \"n2\" is not valid;"},
        BadCable{"used address", [](Cable& cable) { cable.b.address = "10.0.0.1"; },
                 "address \"10.0.0.1\" of node \"n2\" is already used by node \"n0\" on cable \"c0\"; expected"},
        BadCable{"own address", [](Cable& cable) { cable.a.address = "10.0.0.2"; },
                 "address \"10.0.0.2\" of node \"n1\" is already used by node \"n1\""},
        BadCable{"equal ends", [](Cable& cable) { cable.b.address = cable.a.address; },
                 "is already used by node \"n1\" on cable \"c1\""},
        BadCable{"link-local", [](Cable& cable) { cable.a.address = "fe80::1"; },
                 "is link-local but its interface is unknown; expected an interface, or \"fe80::1%INTERFACE\""},
        BadCable{"scope",
                 [](Cable& cable) {
                   cable.a.address = "fe80::1%eth0";
                   cable.a.interface = "eth1";
                 },
                 "is not on interface \"eth1\" of node \"n1\"; expected scope and interface to agree"}));

TEST(Topology, AcceptsASharedPortOnlyIfItsInterfaceIsNamed) {
  // A switch: one port of n1, heard by n0 and n2.
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2)};
  cables[1].a.address = cables[0].b.address;
  cables[0].b.interface = cables[1].a.interface = "eth0";
  EXPECT_TRUE(Topology::create("test", sample_nodes(3), cables).ok());
  cables[0].b.plug = "p0";
  EXPECT_THAT(check_error(sample_nodes(3), cables),
              HasSubstr("port \"eth0\" of node \"n1\" has plug \"\" here and plug \"p0\" on cable \"c0\"; expected one "
                        "plug for one port"));
  cables[1].a.plug = "p0";
  EXPECT_TRUE(Topology::create("test", sample_nodes(3), cables).ok());
  cables[1].a.root = "r0";
  EXPECT_THAT(check_error(sample_nodes(3), cables),
              HasSubstr("port \"eth0\" of node \"n1\" has root \"r0\" here and root \"\" on cable \"c0\"; expected one "
                        "root for one port"));
  cables[0].b.root = "r0";
  EXPECT_TRUE(Topology::create("test", sample_nodes(3), cables).ok());
  cables[1].a.interface = "eth1";
  EXPECT_THAT(check_error(sample_nodes(3), cables), HasSubstr("is already used"));
}

TEST(Topology, RefusesTheSameCableTwice) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(0, 0, 1)};
  cables[1].name = "again";
  for (Cable& cable : cables) cable.a.interface = cable.b.interface = "eth0";
  std::swap(cables[1].a, cables[1].b);
  EXPECT_THAT(
      check_error(sample_nodes(2), cables),
      HasSubstr("cable \"again\" joins the same two ports as cable \"c0\"; expected a cable to be listed once"));
}

TEST(Topology, AcceptsTheMaximumSize) {
  std::vector<Cable> cables;
  for (std::uint32_t i = 0; i < kMaxCables; ++i) cables.push_back(sample_cable(i, i % kMaxNodes, (i + 1) % kMaxNodes));
  const Topology topology = make_topology(sample_nodes(kMaxNodes), std::move(cables));
  EXPECT_EQ(topology.cable_count(), kMaxCables);
  EXPECT_EQ(topology.components().size(), 1U);
  EXPECT_EQ(topology.cables_between(NodeIndex{0}, NodeIndex{1}).size(), kMaxCables / kMaxNodes);
}

}  // namespace
}  // namespace cableway::routing
