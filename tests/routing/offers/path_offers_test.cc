#include "routing/offers/path_offers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "tests/routing/offers/written_offers.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;

Topology shape_of(const std::string& spec) {
  absl::StatusOr<Topology> made = generate_topology(spec);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// n0 -c0- n1 -c1- n2 -c2- n3
TEST(PathOffers, AreThePathOfALine) {
  const Topology line = shape_of("line:4");
  EXPECT_THAT(written_offers(line, 0, 3, 0, 4), ElementsAre("first n0 -c0- n1 -c1- n2 -c2- n3"));
  EXPECT_THAT(written_offers(line, 2, 1, 7, 4), ElementsAre("first n2 -c1- n1"));
  EXPECT_THAT(written_offers(line, 1, 1, 0, 4), ElementsAre("first n1"));
}

//      c0
//   n0 -- n1
// c3 |    | c1
//   n3 -- n2
//      c2
TEST(PathOffers, GoBothWaysAroundARing) {
  const Topology ring = shape_of("ring:4");
  EXPECT_THAT(written_offers(ring, 0, 1, 0, 4),
              ElementsAre("first n0 -c0- n1", "alternate n0 -c3- n3 -c2- n2 -c1- n1"));
  EXPECT_THAT(written_offers(ring, 0, 2, 0, 4),
              ElementsAre("first n0 -c0- n1 -c1- n2", "alternate n0 -c3- n3 -c2- n2"));
  EXPECT_THAT(written_offers(ring, 0, 2, 1, 4),
              ElementsAre("first n0 -c3- n3 -c2- n2", "alternate n0 -c0- n1 -c1- n2"));
  EXPECT_THAT(written_offers(ring, 0, 2, 1, 1), ElementsAre("first n0 -c3- n3 -c2- n2"));
  EXPECT_TRUE(written_offers(ring, 0, 2, 1, 0).empty());
}

TEST(PathOffers, OfOppositeNodesOfASixRingAreItsHalves) {
  EXPECT_THAT(written_offers(shape_of("ring:6"), 1, 4, 0, 8),
              ElementsAre("first n1 -c0- n0 -c5- n5 -c4- n4", "alternate n1 -c1- n2 -c2- n3 -c3- n4"));
}

//           c0, 10 Gbit/s
//      n0 =============== n1
//       |   c1, 25 Gbit/s  |
//    c4 |                  | c2
//      n3 --------------- n2
//               c3
Topology ring_with_two_cables() {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1), sample_cable(2, 1, 2),
                               sample_cable(3, 2, 3), sample_cable(4, 3, 0)};
  cables[1].rate_mbps = 25'000;
  return make_topology(sample_nodes(4), cables);
}

TEST(PathOffers, BundleParallelCablesOfUnequalRates) {
  const Topology topology = ring_with_two_cables();
  EXPECT_THAT(written_offers(topology, 0, 1, 0, 4),
              ElementsAre("first n0 -c0- n1", "bundle n0 -c1- n1", "alternate n0 -c4- n3 -c3- n2 -c2- n1"));
  EXPECT_THAT(written_offers(topology, 0, 1, 1, 4),
              ElementsAre("first n0 -c1- n1", "bundle n0 -c0- n1", "alternate n0 -c4- n3 -c3- n2 -c2- n1"));
  EXPECT_THAT(written_offers(topology, 0, 1, 0, 2), ElementsAre("first n0 -c0- n1", "bundle n0 -c1- n1"));
  // One end port only differs from the first path's, so it is no bundle.
  EXPECT_THAT(
      written_offers(topology, 0, 2, 0, 4),
      ElementsAre("first n0 -c0- n1 -c2- n2", "alternate n0 -c4- n3 -c3- n2", "alternate n0 -c1- n1 -c2- n2 (idle)"));
}

TEST(PathOffers, PutTheFailureOfARelayBeforeTheLastOfTheBundle) {
  // Three cables between n0 and n1, three between n1 and n2, and n0 -c6- n3 -c7- n4 -c8- n2.
  const Topology topology =
      sample_topology(5, {{0, 1}, {0, 1}, {0, 1}, {1, 2}, {1, 2}, {1, 2}, {0, 3}, {3, 4}, {4, 2}});
  EXPECT_THAT(written_offers(topology, 0, 2, 0, 8).front(), "first n0 -c0- n1 -c3- n2");
  EXPECT_THAT(written_offers(topology, 0, 2, 0, 4),
              ElementsAre("first n0 -c0- n1 -c3- n2", "bundle n0 -c1- n1 -c4- n2", "bundle n0 -c2- n1 -c5- n2",
                          "alternate n0 -c6- n3 -c7- n4 -c8- n2"));
  EXPECT_THAT(written_offers(topology, 0, 2, 0, 3), ElementsAre("first n0 -c0- n1 -c3- n2", "bundle n0 -c1- n1 -c4- n2",
                                                                "alternate n0 -c6- n3 -c7- n4 -c8- n2"));
  EXPECT_THAT(written_offers(topology, 0, 2, 0, 2),
              ElementsAre("first n0 -c0- n1 -c3- n2", "alternate n0 -c6- n3 -c7- n4 -c8- n2"));
}

// A function of a twin fills the wire: the other one is no bundle, and adds nothing.
TEST(PathOffers, OfTwinsThatFillTheirWireStandBy) {
  const Topology two = shape_of("twins:2");
  EXPECT_THAT(written_offers(two, 0, 1, 0, 4), ElementsAre("first n0 -c0- n1", "alternate n0 -c1- n1 (idle)"));
  const Topology four = shape_of("twins:4");
  EXPECT_THAT(written_offers(four, 0, 1, 0, 2),
              ElementsAre("first n0 -c0- n1", "alternate n0 -c7- n3 -c5- n2 -c3- n1 (idle)"));
  EXPECT_THAT(written_offers(four, 0, 1, 1, 2),
              ElementsAre("first n0 -c1- n1", "alternate n0 -c6- n3 -c4- n2 -c2- n1 (idle)"));
}

// Neither of two functions fills the wire, and no root limits them.
TEST(PathOffers, OfTwinsThatShareTheirWireStripe) {
  std::vector<Cable> cables;
  for (const auto& [a, b] : ring_pairs(3)) {
    for (int function = 0; function < 2; ++function) {
      cables.push_back(sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
      cables.back().a.plug = "out";
      cables.back().b.plug = "in";
      cables.back().rate_mbps = 100'000;
    }
  }
  std::vector<Node> nodes = sample_nodes(3);
  for (Node& node : nodes) node.plugs = {{"in", 200'000}, {"out", 200'000}};
  const Topology ring = make_topology(nodes, cables);
  EXPECT_THAT(written_offers(ring, 0, 1, 0, 4),
              ElementsAre("first n0 -c1- n1", "bundle n0 -c0- n1", "alternate n0 -c4- n2 -c2- n1",
                          "alternate n0 -c5- n2 -c3- n1"));
  EXPECT_THAT(written_offers(ring, 0, 1, 0, 2), ElementsAre("first n0 -c1- n1", "alternate n0 -c4- n2 -c2- n1"));
  // A plug of 150 Gbit/s can be overfilled by its two functions: no alternate goes there.
  for (Node& node : nodes) node.plugs = {{"in", 150'000}, {"out", 150'000}};
  EXPECT_THAT(written_offers(make_topology(nodes, cables), 0, 1, 0, 4),
              ElementsAre("first n0 -c1- n1", "bundle n0 -c0- n1", "alternate n0 -c4- n2 -c2- n1 (idle)",
                          "alternate n0 -c5- n2 -c3- n1 (idle)"));
}

// Two wires, two roots: the other function on the other wire fills the other root, and nothing is left.
TEST(PathOffers, OfTwoSparksFillBothRoots) {
  const Topology sparks = shape_of("sparks:2");
  EXPECT_THAT(written_offers(sparks, 0, 1, 0, 8), ElementsAre("first n0 -c0- n1", "bundle n0 -c3- n1",
                                                              "bundle n0 -c2- n1 (idle)", "bundle n0 -c1- n1 (idle)"));
  EXPECT_THAT(written_offers(sparks, 1, 0, 0, 2), ElementsAre("first n1 -c1- n0", "bundle n1 -c2- n0"));
}

// Every way around goes through roots that are full.
TEST(PathOffers, OfARingOfSparksStripeOverOneWireOnly) {
  const Topology sparks = shape_of("sparks:4");
  EXPECT_THAT(written_offers(sparks, 0, 1, 0, 3),
              ElementsAre("first n0 -c0- n1", "bundle n0 -c1- n1", "alternate n0 -c7- n3 -c5- n2 -c3- n1 (idle)"));
  EXPECT_THAT(written_offers(sparks, 0, 2, 0, 4),
              ElementsAre("first n0 -c0- n1 -c2- n2", "bundle n0 -c1- n1 -c3- n2",
                          "alternate n0 -c7- n3 -c5- n2 (idle)", "alternate n0 -c6- n3 -c4- n2 (idle)"));
}

//    n0 -- n1           n4 -- n5
//     |  X  |--- c12 ---|  X  |        X: both diagonals
//    n2 -- n3           n6 -- n7
TEST(PathOffers, ShareABridgeOnly) {
  Pairs pairs = mesh_pairs(4);
  for (const auto& [a, b] : mesh_pairs(4)) pairs.emplace_back(a + 4, b + 4);
  pairs.emplace_back(1, 4);
  const Topology topology = sample_topology(8, pairs);
  EXPECT_THAT(
      written_offers(topology, 0, 5, 0, 2),
      ElementsAre("first n0 -c0- n1 -c12- n4 -c6- n5", "alternate n0 -c1- n2 -c3- n1 -c12- n4 -c7- n6 -c9- n5 (idle)"));
  EXPECT_THAT(written_offers(topology, 1, 4, 0, 3), ElementsAre("first n1 -c12- n4"));
}

// The only shortest path crosses both others: no single path avoids all of it, but two do.
//
//           n4 --- n5
//          /         \          n0 -c0- n1 -c1- n2 -c2- n3 is the first path;
//    n0 - n1 -- n2 -- n3        n0 -c3- n6 -c4- n7 -c5- n2 avoids n1, n1 -c6- n4 -c7- n5 -c8- n3 avoids n2
//      \       /
//      n6 --- n7
Topology trap() {
  return sample_topology(8, {{0, 1}, {1, 2}, {2, 3}, {0, 6}, {6, 7}, {7, 2}, {1, 4}, {4, 5}, {5, 3}});
}

TEST(PathOffers, OfThreeLeaveNothingThatAllShare) {
  EXPECT_THAT(written_offers(trap(), 0, 3, 0, 3),
              ElementsAre("first n0 -c0- n1 -c1- n2 -c2- n3", "alternate n0 -c0- n1 -c6- n4 -c7- n5 -c8- n3 (idle)",
                          "alternate n0 -c3- n6 -c4- n7 -c5- n2 -c2- n3 (idle)"));
  EXPECT_EQ(written_offers(trap(), 0, 3, 0, 2).size(), 2U);
}

//   n0 - n1 - n2       n1 drains
//     \      /
//      n3 - n4
TEST(PathOffers, RelayThroughNoDrainingNode) {
  std::vector<Node> nodes = sample_nodes(5);
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2), sample_cable(2, 0, 3),
                               sample_cable(3, 3, 4), sample_cable(4, 4, 2)};
  EXPECT_THAT(written_offers(make_topology(nodes, cables), 0, 2, 0, 4),
              ElementsAre("first n0 -c0- n1 -c1- n2", "alternate n0 -c2- n3 -c3- n4 -c4- n2"));
  nodes[1].draining = true;
  const Topology draining = make_topology(nodes, cables);
  EXPECT_THAT(written_offers(draining, 0, 2, 0, 4), ElementsAre("first n0 -c2- n3 -c3- n4 -c4- n2"));
  EXPECT_THAT(written_offers(draining, 0, 1, 0, 4),
              ElementsAre("first n0 -c0- n1", "alternate n0 -c2- n3 -c3- n4 -c4- n2 -c1- n1"));
}

// The way around the row fails with no other offer; detours of five hops use relays of those of three.
TEST(PathOffers, PreferWhatFailsWithNoOtherOffer) {
  const std::vector<std::string> offers = written_offers(shape_of("torus:8x8"), 0, 1, 0, 8);
  ASSERT_EQ(offers.size(), 8U);
  EXPECT_EQ(offers[1], "alternate n0 -c1- n8 -c16- n9 -c3- n1");
  EXPECT_EQ(offers[2], "alternate n0 -c113- n56 -c112- n57 -c115- n1");
  EXPECT_EQ(offers[3], "alternate n0 -c14- n7 -c12- n6 -c10- n5 -c8- n4 -c6- n3 -c4- n2 -c2- n1");
  EXPECT_EQ(offers[4], "alternate n0 -c1- n8 -c17- n16 -c32- n17 -c19- n9 -c3- n1 (idle)");
}

// Of eight paths over the same wires, the second crosses the other function of each.
TEST(PathOffers, ShareLittleWhereTheyShareSomething) {
  for (const std::uint64_t ordinal : {0U, 1U, 2U, 3U}) {
    const Topology twins = shape_of("twins:4");
    const RouteTable routes = compute_routes(twins, NodeIndex{0});
    const std::vector<OfferedPath> offers = offered_paths(twins, routes, NodeIndex{1}, ordinal, 4);
    ASSERT_EQ(offers.size(), 4U);
    for (std::size_t hop = 0; hop < 3; ++hop) EXPECT_NE(offers[1].path.cables[hop], offers[2].path.cables[hop]);
  }
}

// Ports on a switch can be overfilled, and a relay behind one port is no way around it.
TEST(PathOffers, OverASwitchStandBy) {
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2});
  EXPECT_THAT(written_offers(make_topology(sample_nodes(3), cables), 0, 1, 0, 4),
              ElementsAre("first n0 -c0- n1", "alternate n0 -c1- n2 -c2- n1 (idle)"));
  // n0 -c10- n3 -c11- n1 avoids the switch.
  cables.push_back(sample_cable(10, 0, 3));
  cables.push_back(sample_cable(11, 3, 1));
  EXPECT_THAT(written_offers(make_topology(sample_nodes(4), cables), 0, 1, 0, 4),
              ElementsAre("first n0 -c0- n1", "alternate n0 -c10- n3 -c11- n1", "alternate n0 -c1- n2 -c2- n1 (idle)"));
}

TEST(PathOffers, AreNoneToNodesThatAreNotReached) {
  const RouteTable routes = compute_routes(sample_topology(3, {{0, 1}}), NodeIndex{0});
  EXPECT_TRUE(offered_paths(sample_topology(3, {{0, 1}}), routes, NodeIndex{2}, 0, 4).empty());
  EXPECT_TRUE(offered_paths(sample_topology(3, {{0, 1}}), routes, NodeIndex{9}, 0, 4).empty());
}

// How often the flows of all neighbours in a row of a torus use each cable for their alternate.
TEST(PathOffers, SpreadAlternatesOverEqualCosts) {
  const Topology torus = shape_of("torus:4x4");
  for (std::uint32_t from = 0; from < 16; ++from) {
    const std::uint32_t to = from / 4 * 4 + (from + 1) % 4;
    std::map<std::string, int> uses;
    for (std::uint64_t ordinal = 0; ordinal < 6; ++ordinal) ++uses[written_offers(torus, from, to, ordinal, 2).back()];
    ASSERT_EQ(uses.size(), 3U) << "three detours of three hops";
    for (const auto& [path, count] : uses) EXPECT_EQ(count, 2) << path;
  }
  // Flow 0 of other pairs starts elsewhere.
  std::set<bool> by_relay_before;
  for (std::uint32_t from = 0; from < 16; ++from) {
    const std::uint32_t to = from / 4 * 4 + (from + 1) % 4;
    const RouteTable routes = compute_routes(torus, NodeIndex{from});
    const Path path = offered_paths(torus, routes, NodeIndex{to}, 0, 2).back().path;
    by_relay_before.insert(path.nodes[1].value < from);
  }
  EXPECT_EQ(by_relay_before.size(), 2U);
}

TEST(PathOffers, AcceptAnyOrdinal) {
  const Topology ring = ring_with_two_cables();
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();  // odd, as flow 1
  EXPECT_EQ(written_offers(ring, 0, 1, kLast, 4), written_offers(ring, 0, 1, 1, 4));
}

}  // namespace
}  // namespace cableway::routing
