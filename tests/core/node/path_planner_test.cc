#include "core/node/path_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "tests/core/node/first_path.h"
#include "tests/routing/sample_topologies.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<const routing::Topology> ring(std::uint32_t nodes) {
  return std::make_shared<const routing::Topology>(routing::sample_topology(nodes, routing::ring_pairs(nodes)));
}
std::shared_ptr<const routing::Topology> line(std::uint32_t nodes) {
  return std::make_shared<const routing::Topology>(routing::sample_topology(nodes, routing::line_pairs(nodes)));
}

// Without one of its cables.
std::shared_ptr<const routing::Topology> line(std::uint32_t nodes, std::uint32_t lost) {
  const routing::Topology whole = *line(nodes);
  std::vector<routing::Cable> cables(whole.plugged_cables().begin(), whole.plugged_cables().end());
  cables.erase(cables.begin() + lost);
  std::vector<routing::Node> all(whole.nodes().begin(), whole.nodes().end());
  return std::make_shared<const routing::Topology>(
      *routing::Topology::create(whole.cluster(), std::move(all), std::move(cables)));
}

PathPlanner planner_of(const std::string& name, std::shared_ptr<const routing::Topology> topology) {
  PathPlanner planner(name);
  EXPECT_TRUE(planner.update(std::move(topology)).ok());
  planner.set_addresses({"10.0.0.2", "10.0.1.1"});
  return planner;
}

// The set-up of a flow n0 -> n3 on the line n0 -c0- n1 -c1- n2 -c2- n3, arriving over hop `hop`.
CircuitSetup setup_over_line(std::uint16_t hop) {
  CircuitSetup setup;
  setup.chunk_bytes = 1024;
  setup.budget_ms = 1000;
  setup.from_node = "n0";
  setup.hops = *test::first_path(planner_of("n0", line(4)), "n3", 0);
  setup.hops.back().to_port = 45678;
  setup.hop = hop;
  return setup;
}

TEST(PathPlanner, UpdateErrorListsTheNodes) {
  const absl::Status status = PathPlanner("n9").update(ring(4));
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("\"n9\""), HasSubstr("n0, n1, n2, n3")));
  EXPECT_THAT(std::string(PathPlanner("x").update(ring(300)).message()), HasSubstr("n15, .."));
}

TEST(PathPlanner, ReturnsThePathHopByHop) {
  const absl::StatusOr<std::vector<Hop>> hops = test::first_path(planner_of("n0", line(4)), "n3", 0);
  ASSERT_TRUE(hops.ok()) << hops.status();
  EXPECT_THAT(*hops, ElementsAre(Hop{"c0", "10.0.0.1", "n1", "10.0.0.2", 7470, false},
                                 Hop{"c1", "10.0.1.1", "n2", "10.0.1.2", 7470, false},
                                 Hop{"c2", "10.0.2.1", "n3", "10.0.2.2", 0, false}));
}

TEST(PathPlanner, SpreadsFlowsOverEqualPaths) {
  const PathPlanner node = planner_of("n0", ring(4));
  const auto first = test::first_path(node, "n2", 0);
  const auto second = test::first_path(node, "n2", 1);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->front().to_node, second->front().to_node);
}

//      c0
//   n0 -- n1
// c3 |    | c1
//   n3 -- n2
//      c2
TEST(PathPlanner, OffersOtherPathsHopByHop) {
  const PathPlanner node = planner_of("n0", ring(4));
  const absl::StatusOr<std::vector<PathOffer>> paths = node.paths_for_flow("n1", 0, 4);
  ASSERT_TRUE(paths.ok()) << paths.status();
  EXPECT_THAT(*paths, ElementsAre(PathOffer{PathKind::kFirst, true, {{"c0", "10.0.0.1", "n1", "10.0.0.2", 0, false}}},
                                  PathOffer{PathKind::kAlternate,
                                            true,
                                            {{"c3", "10.0.3.2", "n3", "10.0.3.1", 7470, false},
                                             {"c2", "10.0.2.2", "n2", "10.0.2.1", 7470, false},
                                             {"c1", "10.0.1.2", "n1", "10.0.1.1", 0, false}}}));
  EXPECT_EQ(node.paths_for_flow("n1", 0, 1)->size(), 1U);
  EXPECT_EQ(node.paths_for_flow("n0", 0, 4)->size(), 1U) << "within the node";
}

TEST(PathPlanner, OffersPathsThatACircuitCanTakeOnly) {
  const auto longest = static_cast<std::uint32_t>(kMaxHops);
  EXPECT_EQ(planner_of("n0", ring(longest + 1)).paths_for_flow("n1", 0, 4)->size(), 2U);
  EXPECT_EQ(planner_of("n0", ring(longest + 2)).paths_for_flow("n1", 0, 4)->size(), 1U);
  const PathPlanner node = planner_of("n0", line(longest + 2));
  EXPECT_TRUE(node.paths_for_flow("n128", 0, 4).ok());
  const absl::Status status = node.paths_for_flow("n129", 0, 4).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("no path of 128 cables or fewer to node n129"));
}

TEST(PathPlanner, ReturnsALocalPathWithinTheNode) {
  const auto hops = test::first_path(planner_of("n1", line(4)), "n1", 0);
  ASSERT_TRUE(hops.ok()) << hops.status();
  EXPECT_THAT(*hops, ElementsAre(Hop{"local", "10.0.0.2", "n1", "10.0.0.2", 0, false}));
}

TEST(PathPlanner, HasNoPathToItselfWithoutAPort) {
  const PathPlanner alone("n0");
  const absl::Status status = test::first_path(alone, "n0", 0).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("n0 has no cable port with an address"));
}

TEST(PathPlanner, NamesAnUnknownOrUnreachableDestination) {
  const PathPlanner node =
      planner_of("n0", std::make_shared<const routing::Topology>(routing::sample_topology(4, {{0, 1}, {2, 3}})));
  EXPECT_TRUE(absl::IsNotFound(test::first_path(node, "n9", 0).status()));
  EXPECT_THAT(std::string(test::first_path(node, "n9", 0).status().message()),
              AllOf(HasSubstr("node n0 knows of no node \"n9\""), HasSubstr("known nodes: n0, n1, n2, n3")));
  EXPECT_TRUE(absl::IsUnavailable(test::first_path(node, "n3", 0).status()));
  EXPECT_THAT(std::string(test::first_path(node, "n3", 0).status().message()), HasSubstr("no path to node n3"));
}

// n0 - n1 - n2 - n3 loses its cables from the far end inwards; then they are restored.
TEST(PathPlanner, NamesTheNearestReachableNode) {
  const auto with = [](const routing::Pairs& cables) {
    return std::make_shared<const routing::Topology>(routing::sample_topology(4, cables));
  };
  PathPlanner planner = planner_of("n0", line(4));
  const auto why = [&](const std::string& node) {
    return std::string(test::first_path(planner, node, 0).status().message());
  };
  ASSERT_TRUE(planner.update(with({{0, 1}, {1, 2}})).ok());
  EXPECT_THAT(why("n3"), AllOf(HasSubstr("node n0"), HasSubstr("node n3"), HasSubstr("reached is node n2")));
  ASSERT_TRUE(planner.update(with({{0, 1}})).ok());
  EXPECT_THAT(why("n3"), HasSubstr("reached is node n1"));
  EXPECT_THAT(why("n2"), HasSubstr("reached is node n1"));
  ASSERT_TRUE(planner.update(line(4)).ok());
  EXPECT_TRUE(test::first_path(planner, "n3", 0).ok());
  ASSERT_TRUE(planner.update(with({{0, 1}, {1, 2}})).ok());
  EXPECT_THAT(why("n3"), HasSubstr("reached is node n2"));
}

TEST(PathPlanner, WritesALinkLocalAddressWithItsOwnInterface) {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1)};
  cables[0].a = {routing::NodeIndex{0}, "eth7", "fe80::1%eth7"};
  cables[0].b = {routing::NodeIndex{1}, "enp3", "fe80::1%enp3"};
  const auto topology =
      std::make_shared<const routing::Topology>(routing::make_topology(routing::sample_nodes(2), cables));
  const auto hops = test::first_path(planner_of("n0", topology), "n1", 0);
  ASSERT_TRUE(hops.ok()) << hops.status();
  EXPECT_EQ(hops->front().from_address, "fe80::1%eth7");
  EXPECT_EQ(hops->front().to_address, "fe80::1%eth7");
}

TEST(PathPlanner, FollowsANewTopology) {
  PathPlanner node = planner_of("n0", ring(4));
  ASSERT_TRUE(node.update(line(4)).ok());
  EXPECT_EQ(test::first_path(node, "n3", 0)->size(), 3U);
  EXPECT_TRUE(absl::IsNotFound(
      node.update(std::make_shared<const routing::Topology>(routing::make_topology({{"other"}}, {})))));
  // A topology without this node is refused and changes nothing.
  EXPECT_EQ(test::first_path(node, "n3", 0)->size(), 3U);
}

TEST(CheckTransit, AcceptsHopsOfTheTopology) {
  EXPECT_TRUE(planner_of("n1", line(4)).check_transit(setup_over_line(0)).ok());
  EXPECT_TRUE(planner_of("n2", line(4)).check_transit(setup_over_line(1)).ok());
}

TEST(CheckTransit, RefusesAnotherNodesSetup) {
  const absl::Status status = planner_of("n2", line(4)).check_transit(setup_over_line(0));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("for node n1"), HasSubstr("came to node n2")));
}

TEST(CheckTransit, RefusesASetUpThatEndsHere) {
  const absl::Status status = planner_of("n3", line(4)).check_transit(setup_over_line(2));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("node n3"), HasSubstr("relay port")));
}

TEST(CheckTransit, RefusesAnyDifferenceFromTheTopology) {
  struct Change {
    const char* what;
    std::function<void(CircuitSetup&)> make;
    const char* expected;
  };
  const Change changes[] = {
      {"next cable", [](CircuitSetup& s) { s.hops[1].cable = "c9"; }, "no cable \"c9\""},
      {"next cable is another's", [](CircuitSetup& s) { s.hops[1].cable = "c2"; }, "no cable \"c2\""},
      {"next node", [](CircuitSetup& s) { s.hops[1].to_node = "n7"; }, " here, from 10.0.1.1 to n7"},
      {"next address", [](CircuitSetup& s) { s.hops[1].to_address = "192.0.2.1"; }, "at 192.0.2.1"},
      {"source address", [](CircuitSetup& s) { s.hops[1].from_address = "10.0.0.2"; }, " here, from 10.0.0.2"},
      {"routed", [](CircuitSetup& s) { s.hops[1].routed = true; }, "(routed)"},
      {"arriving cable", [](CircuitSetup& s) { s.hops[0].cable = "c9"; }, "no cable \"c9\" to n0"},
      {"arriving address", [](CircuitSetup& s) { s.hops[0].from_address = "192.0.2.1"; }, " here, from 192.0.2.1"},
      {"arriving port", [](CircuitSetup& s) { s.hops[0].to_port = 1; }, "port 1"},
      {"source", [](CircuitSetup& s) { s.from_node = "n3"; }, "no cable \"c0\" to n3"},
      {"unknown source", [](CircuitSetup& s) { s.from_node = "nx"; }, "no node \"nx\""},
      {"back where it came from", [](CircuitSetup& s) { s.hops[1] = s.hops[0]; }, "leads from"},
  };
  const PathPlanner node = planner_of("n1", line(4));
  for (const Change& change : changes) {
    CircuitSetup setup = setup_over_line(0);
    change.make(setup);
    const absl::Status status = node.check_transit(setup);
    EXPECT_FALSE(status.ok()) << change.what;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("node n1"), HasSubstr(change.expected))) << change.what;
  }
}

// Node::check_transit() compares it with what the neighbour has announced.
TEST(CheckTransit, AcceptsAnyTcpPortOfTheNextHop) {
  CircuitSetup to_relay = setup_over_line(0);
  to_relay.hops[1].to_port = 1234;
  EXPECT_TRUE(planner_of("n1", line(4)).check_transit(to_relay).ok());
  CircuitSetup setup = setup_over_line(1);
  setup.hops[2].to_port = 1234;
  EXPECT_TRUE(planner_of("n2", line(4)).check_transit(setup).ok());
  setup.hops[2].to_address = "192.0.2.1";
  EXPECT_FALSE(planner_of("n2", line(4)).check_transit(setup).ok());
}

// Cables that pulses find silent; in the ring c0 joins n0 and n1, and c3 n3 and n0.

DoubtedCables doubted(const std::string& cable, const std::string& neighbour, bool only_relayed) {
  return {{cable, {neighbour, "nothing was heard for 42 ms", only_relayed}}};
}

TEST(PathPlanner, OffersNoPathOverADoubtedCable) {
  PathPlanner planner = planner_of("n0", ring(4));
  planner.set_doubted(doubted("c0", "n1", false));
  const auto offers = planner.paths_for_flow("n1", 0, 4);
  ASSERT_TRUE(offers.ok()) << offers.status();
  ASSERT_EQ(offers->size(), 1U);
  EXPECT_EQ(offers->front().hops.size(), 3U);
  EXPECT_EQ(planner.topology(), *ring(4)) << "the topology keeps the cable";
  ASSERT_TRUE(planner.update(ring(4)).ok());
  EXPECT_EQ(planner.paths_for_flow("n1", 0, 4)->size(), 1U);
  planner.set_doubted({});
  EXPECT_EQ(planner.paths_for_flow("n1", 0, 4)->front().hops.size(), 1U);
}

TEST(PathPlanner, WithoutAnotherPathTheReasonNamesTheDoubtedCable) {
  PathPlanner planner = planner_of("n0", line(3));
  planner.set_doubted(doubted("c0", "n1", false));
  const auto offers = planner.paths_for_flow("n2", 0, 4);
  EXPECT_TRUE(absl::IsUnavailable(offers.status()));
  EXPECT_EQ(offers.status().message(),
            "node n0 has no path to node n2; it does not use cable c0 now: nothing was heard for 42 ms");
}

TEST(PathPlanner, OffersThePathToButNotThroughANodeThatStandsStill) {
  PathPlanner planner = planner_of("n0", ring(4));
  planner.set_doubted(doubted("c0", "n1", true));
  EXPECT_EQ(planner.paths_for_flow("n1", 0, 4)->front().hops.size(), 1U);
  const auto offers = planner.paths_for_flow("n2", 0, 4);
  ASSERT_TRUE(offers.ok());
  ASSERT_EQ(offers->size(), 1U);
  EXPECT_EQ(offers->front().hops.front().to_node, "n3");
}

TEST(PathPlanner, RefusesASetUpOverADoubtedCable) {
  for (const char* cable : {"c0", "c1"}) {
    PathPlanner planner = planner_of("n1", line(4));
    planner.set_doubted(doubted(cable, "n2", false));
    const absl::Status status = planner.check_transit(setup_over_line(0));
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("nothing was heard for 42 ms"));
  }
}

// The next cable left the topology while it was dialed: a relay accepts that, as long as the other one is not silent.
TEST(PathPlanner, ACableThatLeftTheTopologyDoesNotHideADoubt) {
  PathPlanner planner = planner_of("n1", line(4));
  planner.set_doubted(doubted("c0", "n0", false));
  ASSERT_TRUE(planner.update(line(2)).ok());
  const absl::Status status = planner.check_transit(setup_over_line(0));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  planner.set_doubted({});
  EXPECT_TRUE(absl::IsNotFound(planner.check_transit(setup_over_line(0))));
}

TEST(PathPlanner, RelaysToButNotThroughANodeThatStandsStill) {
  PathPlanner first = planner_of("n1", line(4));
  first.set_doubted(doubted("c1", "n2", true));
  EXPECT_TRUE(absl::IsUnavailable(first.check_transit(setup_over_line(0))));
  PathPlanner last = planner_of("n2", line(4));
  last.set_doubted(doubted("c2", "n3", true));
  EXPECT_TRUE(last.check_transit(setup_over_line(1)).ok());
}

DoubtedCables proving(const std::string& cable, const std::string& neighbour, bool only_relayed) {
  return {{cable, {neighbour, "pulses arrive again, but not yet for 200 ms", only_relayed, true}}};
}

TEST(PathPlanner, OffersAProvingCableOnlyWhereNothingElseLeads) {
  PathPlanner around = planner_of("n0", ring(4));
  around.set_doubted(proving("c0", "n1", false));
  EXPECT_EQ(around.paths_for_flow("n1", 0, 4)->front().hops.size(), 3U);
  PathPlanner only = planner_of("n0", line(3));
  only.set_doubted(proving("c0", "n1", false));
  EXPECT_TRUE(only.reaches("n2"));
  ASSERT_TRUE(only.paths_for_flow("n2", 0, 4).ok());
  EXPECT_EQ(only.paths_for_flow("n2", 0, 4)->front().hops.size(), 2U);
  ASSERT_TRUE(only.update(line(3)).ok());
  EXPECT_TRUE(only.reaches("n2"));
  only.set_doubted(doubted("c0", "n1", false));
  EXPECT_FALSE(only.reaches("n2"));
}

TEST(PathPlanner, RelaysOverAProvingCable) {
  PathPlanner planner = planner_of("n1", line(4));
  planner.set_doubted(proving("c1", "n2", false));
  EXPECT_TRUE(planner.check_transit(setup_over_line(0)).ok());
}

// Inquiries are small: a cable that loses large packets is doubted first, and then leaves the topology.

TEST(PathPlanner, OffersInquiriesTheLastPathWhereThereIsNone) {
  PathPlanner planner = planner_of("n0", line(4));
  const std::vector<Hop> path = *test::first_path(planner, "n3", 0);
  planner.set_doubted(doubted("c0", "n1", false));
  EXPECT_FALSE(planner.paths_for_flow("n3", 0, 4).ok());
  auto offers = planner.paths_for_inquiry("n3", 0, 4);
  ASSERT_TRUE(offers.ok()) << offers.status();
  for (const PathOffer& offer : *offers) EXPECT_EQ(offer.hops.front(), path.front());
  ASSERT_TRUE(planner.update(line(4, 0)).ok());
  planner.set_doubted({});
  offers = planner.paths_for_inquiry("n3", 0, 4);
  ASSERT_TRUE(offers.ok()) << offers.status();
  ASSERT_EQ(offers->size(), 1U);
  EXPECT_EQ(offers->front().kind, PathKind::kFirst);
  EXPECT_EQ(offers->front().hops, path);
  EXPECT_TRUE(absl::IsNotFound(planner.paths_for_inquiry("n9", 0, 4).status())) << "there was never one";
}

TEST(PathPlanner, OffersInquiriesEveryDoubtedPathWhereThereIsNoOther) {
  PathPlanner planner = planner_of("n0", ring(4));
  DoubtedCables both = doubted("c0", "n1", false);
  planner.set_doubted(both);
  both.merge(doubted("c3", "n3", false));
  planner.set_doubted(both);
  const auto offers = planner.paths_for_inquiry("n1", 0, 4);
  ASSERT_TRUE(offers.ok()) << offers.status();
  ASSERT_GE(offers->size(), 2U);
  EXPECT_EQ((*offers)[0].kind, PathKind::kFirst);
  EXPECT_EQ((*offers)[0].hops.size(), 1U) << "it may pass small packets, though the one that was lost last does not";
  EXPECT_EQ((*offers)[1].hops.size(), 3U);
}

// The usable path may be silent, too, without this node knowing it.
TEST(PathPlanner, OffersInquiriesTheFlowsPathsThenDoubtedOnes) {
  PathPlanner planner = planner_of("n0", ring(4));
  planner.set_doubted(doubted("c0", "n1", false));
  const auto offers = planner.paths_for_inquiry("n1", 0, 4);
  ASSERT_TRUE(offers.ok()) << offers.status();
  ASSERT_EQ(offers->size(), 2U);
  EXPECT_EQ(offers->front(), planner.paths_for_flow("n1", 0, 4)->front());
  EXPECT_EQ(offers->back().hops.size(), 1U);
  EXPECT_EQ(planner.paths_for_inquiry("n1", 0, 1)->size(), 1U);
  planner.set_doubted({});
  EXPECT_EQ(*planner.paths_for_inquiry("n1", 0, 4), *planner.paths_for_flow("n1", 0, 4));
}

TEST(PathPlanner, RelaysInquiriesOverDoubtedAndEarlierCables) {
  for (const std::uint32_t lost : {0, 1}) {
    PathPlanner planner = planner_of("n1", line(4));
    CircuitSetup setup = setup_over_line(0);
    planner.set_doubted(doubted(lost == 0 ? "c0" : "c1", lost == 0 ? "n0" : "n2", false));
    EXPECT_FALSE(planner.check_transit(setup).ok());
    setup.purpose = SetupPurpose::kInquiry;
    EXPECT_TRUE(planner.check_transit(setup).ok());
    planner.set_doubted({});
    ASSERT_TRUE(planner.update(line(4, lost)).ok());
    EXPECT_TRUE(planner.check_transit(setup).ok()) << planner.check_transit(setup);
    CircuitSetup elsewhere = setup;
    elsewhere.hops[lost].to_address = "10.0.9.9";
    EXPECT_TRUE(absl::IsNotFound(planner.check_transit(elsewhere)));
    elsewhere = setup;
    elsewhere.hops[lost].to_port = 22;
    EXPECT_EQ(absl::IsNotFound(planner.check_transit(elsewhere)), lost == 0) << "of another relay than this one";
    setup.purpose = SetupPurpose::kCircuit;
    EXPECT_TRUE(absl::IsNotFound(planner.check_transit(setup))) << "carries data";
  }
}

TEST(PathPlanner, RelaysInquiriesOverCablesThatDrain) {
  PathPlanner planner = planner_of("n1", line(4));
  const routing::Topology whole = *line(4);
  std::vector<routing::Cable> cables(whole.plugged_cables().begin(), whole.plugged_cables().end());
  cables[1].draining = true;
  std::vector<routing::Node> all(whole.nodes().begin(), whole.nodes().end());
  ASSERT_TRUE(planner
                  .update(std::make_shared<const routing::Topology>(
                      *routing::Topology::create(whole.cluster(), std::move(all), std::move(cables))))
                  .ok());
  CircuitSetup setup = setup_over_line(0);
  EXPECT_THAT(std::string(planner.check_transit(setup).message()), HasSubstr("cable c1 drains"));
  setup.purpose = SetupPurpose::kInquiry;
  EXPECT_TRUE(planner.check_transit(setup).ok()) << planner.check_transit(setup);
}

TEST(PathPlanner, NamesNoDoubtedCableThatIsGone) {
  PathPlanner planner = planner_of("n0", line(3));
  planner.set_doubted(doubted("c7", "n9", false));
  EXPECT_THAT(std::string(planner.paths_for_flow("n9", 0, 1).status().message()), Not(HasSubstr("c7")));
}

}  // namespace
}  // namespace cableway
