// Whole nodes in virtual time: cables are discovered, advertised, lost and discovered again, in several topologies.
#include "core/node/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "sim/nodes/node_world.h"
#include "tests/core/node/first_path.h"
#include "tests/routing/sample_topologies.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using sim::NodeWorld;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> problems_of(const Node& node) {
  std::vector<std::string> texts;
  for (const Problem& problem : node.problems()) texts.push_back(problem.text);
  return texts;
}

std::vector<std::string> events_of(const Node& node) {
  std::vector<std::string> texts;
  for (const Event& event : node.events().events()) texts.push_back(event.text);
  return texts;
}

std::vector<EventCode> codes_of(const Node& node) {
  std::vector<EventCode> codes;
  for (const Event& event : node.events().events()) codes.push_back(event.code);
  return codes;
}

std::size_t cables_seen(Node& node) {
  return node.paths().topology().cable_count();
}

bool all_see(NodeWorld& world, std::size_t cables) {
  for (std::size_t i = 0; i < world.size(); ++i) {
    if (world.runs(i) && cables_seen(world.node(i)) != cables) return false;
  }
  return true;
}

struct Shape {
  const char* name;
  std::size_t nodes;
  routing::Pairs cables;
};

std::vector<Shape> shapes() {
  return {{"triangle", 3, routing::ring_pairs(3)},
          {"ring of 4", 4, routing::ring_pairs(4)},
          {"ring of 6", 6, routing::ring_pairs(6)},
          {"line of 5", 5, routing::line_pairs(5)},
          {"star", 5, routing::star_pairs(4)},
          {"torus", 9, routing::torus_pairs(3, 3)},
          {"ring with a chord", 4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}}},
          {"full mesh", 4, routing::mesh_pairs(4)},
          {"two rings and a bridge", 8, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {2, 4}}},
          {"parallel cables", 2, {{0, 1}, {0, 1}}}};
}

TEST(Node, FindsEveryCableOfEveryShape) {
  for (const Shape& shape : shapes()) {
    NodeWorld world(1);
    world.build(shape.nodes, shape.cables);
    world.start_all();
    ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, shape.cables.size()); })) << shape.name;
    for (std::size_t i = 0; i < shape.nodes; ++i) {
      EXPECT_EQ(world.node(i).paths().topology(), world.node(0).paths().topology()) << shape.name;
      for (std::size_t j = 0; j < shape.nodes; ++j) {
        EXPECT_TRUE(world.node(i).paths().reaches("n" + std::to_string(j))) << shape.name;
      }
      EXPECT_THAT(problems_of(world.node(i)), testing::IsEmpty());
    }
  }
}

TEST(Node, AgreesDespiteLossDuplicationAndReordering) {
  for (std::uint64_t seed = 1; seed <= test::cases_here(20U); ++seed) {
    NodeWorld world(seed);
    world.fabric().set_weather({200, 100, 50us, 30ms});
    world.build(9, routing::torus_pairs(3, 3));
    world.start_all();
    EXPECT_TRUE(world.settle(20s, [&] { return all_see(world, 18); })) << "seed " << seed;
  }
}

TEST(Node, TheSameSeedGivesTheSameRun) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
  for (int i = 0; i < 2; ++i) {
    NodeWorld world(7);
    world.fabric().set_weather({100, 50, 20us, 5ms});
    world.build(6, routing::ring_pairs(6));
    world.start_all();
    world.clock().run_for(5s);
    runs.emplace_back(world.clock().calls(), world.fabric().datagrams());
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST(Node, FollowsUnpluggedAndPluggedCables) {
  NodeWorld world(2);
  const auto segments = world.build(4, routing::ring_pairs(4));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 4); }));
  EXPECT_EQ(test::first_path(world.node(0).paths(), "n1", 0)->size(), 1U);

  world.fabric().set_carrier(segments[0], false);  // n0 - n1
  ASSERT_TRUE(world.settle(200ms, [&] { return all_see(world, 3); })) << "carrier loss is reported at once";
  EXPECT_EQ(test::first_path(world.node(0).paths(), "n1", 0)->size(), 3U);
  EXPECT_THAT(events_of(world.node(0)), Contains(AllOf(HasSubstr("to node n1"), HasSubstr("unplugged"))));

  world.fabric().set_carrier(segments[0], true);
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 4); }));
  EXPECT_EQ(test::first_path(world.node(0).paths(), "n1", 0)->size(), 1U);
}

TEST(Node, DetectsASilentCableAfterTheHoldTime) {
  NodeWorld world(3);
  const auto segments = world.build(3, routing::line_pairs(3));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 2); }));
  world.fabric().set_silent(segments[1], true);
  world.clock().run_for(800ms);
  EXPECT_EQ(cables_seen(world.node(0)), 2U);
  world.clock().run_for(500ms);
  EXPECT_EQ(cables_seen(world.node(0)), 1U);
  const absl::Status status = test::first_path(world.node(0).paths(), "n2", 0).status();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("node n0"), HasSubstr("node n2"), HasSubstr("reached is node n1")));
}

// A cable must work in both directions.
TEST(Node, IgnoresAOneWayCable) {
  NodeWorld world(4);
  world.build(2, {{0, 1}});
  world.fabric().set_off(1, true);  // n1 neither hears nor is heard
  world.start_all();
  world.clock().run_for(2s);
  EXPECT_EQ(cables_seen(world.node(0)), 0U);
  PortHello forged;
  forged.node = "n1";
  forged.interface = "eth0";
  forged.mtu = 1500;
  forged.hold_ms = 1000;
  ASSERT_EQ(world.node(0).neighbours().ports().size(), 1U);
  forged.addresses = hello_addresses(world.fabric().ports_of(1).ports()[0], {});
  ControlDatagram datagram{
      ControlKind::kHello, routing::cluster_id("test"), routing::node_id("test", "n1"), 5, 1, 9, {}};
  const std::vector<std::byte> body = encode_port_hello(forged);
  datagram.body = body;
  const PortId port = world.node(0).neighbours().ports()[0].id;
  world.fabric().inject(0, port, forged.addresses[0].prefix.address, encode_control_datagram(datagram, NoSeal()));
  world.clock().run_for(10ms);
  EXPECT_EQ(world.node(0).neighbours().challenged().size(), 1U) << "heard";
  EXPECT_TRUE(world.node(0).neighbours().all().empty()) << "and not believed";
  EXPECT_EQ(cables_seen(world.node(0)), 0U);
}

TEST(Node, LeavesWithoutAHoldTime) {
  NodeWorld world(5);
  world.build(4, routing::ring_pairs(4));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 4); }));
  world.leave(2);
  ASSERT_TRUE(world.settle(150ms, [&] { return all_see(world, 2); })) << "no hold time passes";
  EXPECT_THAT(events_of(world.node(1)), Contains(HasSubstr("the node has left")));
}

TEST(Node, RejoinsAfterAPowerCut) {
  NodeWorld world(6);
  world.build(4, routing::ring_pairs(4));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 4); }));
  world.kill(2);
  world.start(2);  // before the neighbours time out
  ASSERT_TRUE(world.settle(3s, [&] { return all_see(world, 4); }));
  EXPECT_THAT(events_of(world.node(1)), Contains(HasSubstr("started again")));
  world.kill(2);
  ASSERT_TRUE(world.settle(3s, [&] { return all_see(world, 2); }));
  world.start(2);
  ASSERT_TRUE(world.settle(3s, [&] { return all_see(world, 4); }));
}

// The node's clock was set back: the cluster has an advertisement that is newer than the node's first.
TEST(Node, SupersedesAnEarlierIncarnationWithAGreaterNonce) {
  NodeWorld world(7);
  world.build(3, routing::line_pairs(3));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 2); }));
  const std::uint64_t before = world.node(2).identity().boot_nonce;
  world.kill(2);
  world.clock().run_for(3s);
  NodeOptions options = world.options(2);
  options.identity.boot_nonce = 5;
  sim::FabricPorts& ports = world.fabric().ports_of(2);
  const NoSeal seal;
  Node restarted(
      options, world.clock(), ports, ports, seal, [] { return std::uint64_t{77}; },
      Node::Observer{[] {}, [] {}, [](const Event&) {}});
  restarted.start();
  ASSERT_TRUE(
      world.clock().run_until_true([&] { return cables_seen(restarted) == 2 && cables_seen(world.node(0)) == 2; }, 5s));
  EXPECT_EQ(world.node(0).flooding().database().find(restarted.identity().id())->version.boot_nonce, before);
  EXPECT_GE(restarted.events().count(EventCode::kNameDefended), 1U);
  EXPECT_EQ(restarted.events().count(EventCode::kCableUp), 1U) << "its adjacencies stay";
  ports.listen([](const ReceivedDatagram&) {});
}

// A node's advertisement expires five minutes after its last renewal; running nodes renew theirs.
TEST(Node, ExpiresWithoutRenewal) {
  NodeWorld world(13);
  world.build(4, routing::ring_pairs(4));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 4); }));
  const auto known = [&](std::size_t node) { return world.node(node).flooding().database().size(); };
  world.kill(2);
  world.clock().run_for(routing::kMaxAge - routing::kRenewAfter - 5s);
  EXPECT_EQ(known(0), 4U) << "the node may only be cut off";
  world.clock().run_for(routing::kRenewAfter + 10s);
  EXPECT_EQ(known(0), 3U);
  EXPECT_EQ(known(1), 3U);
  EXPECT_FALSE(world.node(0).paths().topology().find_node("n2").has_value());
  world.clock().run_for(routing::kMaxAge);
  EXPECT_EQ(known(0), 3U);
  EXPECT_EQ(cables_seen(world.node(0)), 2U);
}

TEST(Node, IsNoRelayWhileItDrains) {
  NodeWorld world(8);
  world.build(4, routing::ring_pairs(4));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 4); }));
  world.node(1).set_draining(true);
  ASSERT_TRUE(world.settle(1s, [&] {
    return world.node(0).paths().topology().node(*world.node(0).paths().topology().find_node("n1")).draining;
  }));
  for (std::uint64_t flow = 0; flow < 4; ++flow) {
    EXPECT_EQ(test::first_path(world.node(0).paths(), "n2", flow)->front().to_node, "n3");
  }
  EXPECT_EQ(test::first_path(world.node(0).paths(), "n1", 0)->size(), 1U) << "it is still a destination";
  world.node(1).set_draining(true);
  world.node(1).set_draining(false);
  EXPECT_EQ(world.node(1).events().count(EventCode::kDraining), 1U);
  EXPECT_EQ(world.node(1).events().count(EventCode::kDrainingEnded), 1U);
}

// n0 - n1
//  |    |      n1 finds that its cable to n0 loses packets.
// n3 - n2
TEST(Node, UsesACableThatLosesPacketsLast) {
  NodeWorld world(9);
  world.build(4, routing::ring_pairs(4));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 4); }));
  const routing::Topology before = world.node(0).paths().topology();
  const std::string cable(
      before.cable(before.cables_between(*before.find_node("n0"), *before.find_node("n1"))[0].cable).name);
  const auto hops_at = [&](std::size_t from, const char* to) {
    const auto path = test::first_path(world.node(from).paths(), to, 0);
    return path.ok() ? path->size() : 0;
  };
  world.node(1).set_loss(cable, 5);
  ASSERT_TRUE(world.settle(1s, [&] { return hops_at(0, "n1") == 3 && hops_at(1, "n0") == 3; }));
  EXPECT_EQ(world.node(3).paths().topology().unused_cables()[0].loss_percent, 5);
  // It is offered, as another node may know that the way round is silent.
  const auto offers = world.node(0).paths().paths_for_flow("n1", 0, 4);
  ASSERT_TRUE(offers.ok() && offers->size() == 2);
  EXPECT_EQ(offers->back().hops.size(), 1U);
  EXPECT_EQ(offers->back().kind, PathKind::kAlternate);
  EXPECT_FALSE(offers->back().may_stripe || offers->back().equals_first);
  EXPECT_TRUE(offers->back().last_resort);

  // The way round is silent, as only n0 knows yet: it uses the lossy cable, and n1 accepts that.
  DoubtedCables doubted;
  doubted[std::string(
      before.cable(before.cables_between(*before.find_node("n0"), *before.find_node("n3"))[0].cable).name)] = {
      "n3", "silent"};
  world.node(0).set_doubted(doubted);
  EXPECT_EQ(hops_at(0, "n1"), 1U);
  world.node(0).set_doubted({});
  EXPECT_EQ(hops_at(0, "n1"), 3U);

  // The way round is down.
  world.fabric().set_carrier(2, false);
  ASSERT_TRUE(world.settle(2s, [&] { return hops_at(0, "n1") == 1; }));
  world.fabric().set_carrier(2, true);
  ASSERT_TRUE(world.settle(2s, [&] { return hops_at(0, "n1") == 3; }));

  world.node(1).set_loss(cable, 0);
  ASSERT_TRUE(world.settle(1s, [&] { return hops_at(0, "n1") == 1; }));
}

// n0 - n1
//  |    |      n0 drains its cable to n1.
// n3 - n2
TEST(Node, HasNoPathLeadOverACableThatItDrains) {
  NodeWorld world(8);
  world.build(4, routing::ring_pairs(4));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 4); }));
  Node& node = world.node(0);
  const routing::Topology before = node.paths().topology();
  const std::string cable(
      before.cable(before.cables_between(*before.find_node("n0"), *before.find_node("n1"))[0].cable).name);
  EXPECT_EQ(node.drain_cable(cable), absl::OkStatus());
  EXPECT_EQ(node.drain_cable(cable), absl::OkStatus()) << "it drains already";
  EXPECT_THAT(node.draining_cables(), testing::ElementsAre(cable));
  const auto see = [&](std::size_t draining) {
    for (std::size_t i = 0; i < 4; ++i) {
      if (world.node(i).paths().topology().unused_cables().size() != draining) return false;
    }
    return true;
  };
  ASSERT_TRUE(world.settle(1s, [&] { return see(1); }));
  for (const std::size_t from : {0U, 1U}) {
    const std::string to = from == 0 ? "n1" : "n0";
    EXPECT_EQ(test::first_path(world.node(from).paths(), to, 0)->size(), 3U);
  }
  EXPECT_EQ(node.events().count(EventCode::kCableDraining), 1U);

  // It goes on while the cable is unplugged.
  world.fabric().set_carrier(0, false);
  ASSERT_TRUE(world.settle(2s, [&] { return see(0); }));
  world.fabric().set_carrier(0, true);
  ASSERT_TRUE(world.settle(2s, [&] { return see(1); }));

  EXPECT_EQ(node.undrain_cable(cable), absl::OkStatus());
  ASSERT_TRUE(world.settle(1s, [&] { return see(0) && world.node(1).paths().topology().cable_count() == 4; }));
  EXPECT_EQ(test::first_path(world.node(1).paths(), "n0", 0)->size(), 1U);
  EXPECT_EQ(node.events().count(EventCode::kCableDrainingEnded), 1U);
  EXPECT_EQ(node.undrain_cable(cable).code(), absl::StatusCode::kNotFound);
}

TEST(Node, DrainsOnlyCablesOfItsOwnThatAreUp) {
  NodeWorld world(8);
  world.build(3, {{0, 1}, {1, 2}});
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 2); }));
  const routing::Topology topology = world.node(0).paths().topology();
  for (const routing::Cable& cable : topology.cables()) {
    const bool own = topology.node(cable.a.node).name == "n0" || topology.node(cable.b.node).name == "n0";
    EXPECT_EQ(world.node(0).drain_cable(cable.name).ok(), own) << cable.name;
  }
  EXPECT_EQ(world.node(0).drain_cable("none").message(), "no cable none of node n0 is up");
}

TEST(Node, FindsItsCablesByPortAndByAddress) {
  sim::NodeWorld world(1);
  world.build(2, {{0, 1}});
  world.start_all();
  const auto knows_cable = [&] { return world.node(0).paths().topology().cable_count() == 1; };
  ASSERT_TRUE(world.settle(2s, knows_cable));
  const Node& node = world.node(0);
  const std::string interface = node.neighbours().ports().front().interface;
  const std::string there = world.node(1).neighbours().ports().front().interface;
  const std::optional<CableEnds> cable = node.find_cable({interface, "n1", there});
  ASSERT_TRUE(cable.has_value());
  EXPECT_EQ(cable->relay_port, routing::kDefaultRelayPort);
  for (const ProbedCable& other : {ProbedCable{interface, "n2", there}, ProbedCable{"other", "n1", there},
                                   ProbedCable{interface, "n1", "other"}}) {
    EXPECT_FALSE(node.find_cable(other).has_value());
  }
  EXPECT_TRUE(node.is_cable_up(cable->own_address, cable->other_address));
  EXPECT_FALSE(node.is_cable_up(cable->other_address, cable->own_address));
  EXPECT_FALSE(node.is_cable_up(cable->own_address, "10.99.0.1"));
  EXPECT_FALSE(node.is_cable_up(cable->own_address, "not an address"));
}

TEST(Node, DistinguishesALostCableFromANeighbourThatLeft) {
  NodeWorld world(24);
  world.build(3, routing::line_pairs(3));
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 2); }));
  world.leave(0);
  world.clock().run_for(100ms);
  world.kill(2);
  world.clock().run_for(3s);
  EXPECT_THAT(codes_of(world.node(1)), testing::ElementsAre(EventCode::kCableUp, EventCode::kCableUp,
                                                            EventCode::kNeighbourLeft, EventCode::kCableLost));
  const Event lost = world.node(1).events().events().back();
  EXPECT_EQ(lost.severity(), EventSeverity::kWarning);
  EXPECT_EQ(lost.text, "cable eth1 to node n2 (eth0) is down: nothing was heard for 1000 ms");
  EXPECT_THAT(lost.fields, testing::ElementsAre(EventField{"cable", "n1.eth1-n2.eth0"}, EventField{"port", "eth1"},
                                                EventField{"neighbour", "n2"}, EventField{"neighbour_port", "eth0"},
                                                EventField{"reason", "nothing was heard for 1000 ms"}));
}

TEST(Node, FollowsAnAddressThatChanges) {
  NodeWorld world(9);
  world.build(2, {{0, 1}});
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 1); }));
  for (std::size_t node = 0; node < 2; ++node) {
    const PortId port = world.node(node).neighbours().ports()[0].id;
    world.fabric().change_port(node, port, [&](PortFacts& facts) {
      facts.addresses[0].address.bytes = {10, 99, 0, static_cast<std::uint8_t>(node + 1)};
    });
  }
  ASSERT_TRUE(world.settle(3s, [&] {
    const auto hops = test::first_path(world.node(0).paths(), "n1", 0);
    return hops.ok() && hops->front().to_address == "10.99.0.2";
  }));
  EXPECT_THAT(world.node(0).addresses(), testing::ElementsAre("10.99.0.1"));
}

// The two nodes receive each other's advertisements only through the nodes between them.
TEST(Node, ReportsARemoteNodeWithItsName) {
  NodeWorld world(21);
  world.build(5, routing::line_pairs(5));
  world.options(4).identity.name = "n0";
  world.start_all();
  const auto complains = [&](std::size_t node) {
    return testing::Matches(Contains(AllOf(HasSubstr("seems to be called n0 too"), HasSubstr("CABLEWAY_NODE"))))(
        problems_of(world.node(node)));
  };
  ASSERT_TRUE(world.clock().run_until_true([&] { return complains(0) && complains(4); }, 20s));
  world.clock().run_for(20s);
  EXPECT_TRUE(complains(0) && complains(4)) << "for as long as it lasts";
  EXPECT_TRUE(world.node(1).paths().reaches("n3")) << "the others go on";
  EXPECT_EQ(world.node(0).problems()[0].code, EventCode::kNameTaken);
  const auto texts = events_of(world.node(0));
  EXPECT_EQ(std::count_if(texts.begin(), texts.end(), [](const std::string& text) { return text.find("seems") < 99; }),
            1)
      << "once";

  world.kill(4);
  world.options(4).identity.name = "n4";
  world.start(4);
  ASSERT_TRUE(world.settle(20s, [&] { return all_see(world, 4) && problems_of(world.node(0)).empty(); }));
}

TEST(Node, ReportsSelectedPortsThatItCannotUse) {
  NodeWorld world(22);
  world.build(2, {{0, 1}});
  world.start_all();
  world.fabric().set_rejected(0, {{"eth8", "is down", true}, {"eth9", "is not selected", false}});
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 1); }));
  EXPECT_THAT(problems_of(world.node(0)), testing::ElementsAre("eth8 is down"));
  EXPECT_THAT(events_of(world.node(0)), Contains("eth8 is down"));
  EXPECT_THAT(codes_of(world.node(0)), Contains(EventCode::kPortUnusable));
  EXPECT_THAT(events_of(world.node(0)), Not(Contains(HasSubstr("is not selected"))));
  world.clock().run_for(7s);
  world.fabric().set_rejected(0, {{"eth8", "is down", true}});
  world.clock().run_for(10ms);
  ASSERT_THAT(problems_of(world.node(0)), testing::ElementsAre("eth8 is down"));
  EXPECT_GE(world.clock().now() - world.node(0).problems()[0].since, 7s);
  world.fabric().set_rejected(0, {});
  world.clock().run_for(10ms);
  EXPECT_THAT(problems_of(world.node(0)), testing::IsEmpty());
}

TEST(Node, AnUntrustedPeerCannotHideOtherProblems) {
  NodeWorld world(23);
  world.build(2, {{0, 1}});
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 1); }));
  const PortFacts port = world.node(0).neighbours().ports()[0];
  for (std::uint64_t sender = 1; sender <= 2000; ++sender) {
    ControlDatagram datagram{ControlKind::kHello, routing::cluster_id("elsewhere"), {sender}, 5, sender, 9, {}};
    world.fabric().inject(0, port.id, port.addresses[0].address, encode_control_datagram(datagram, NoSeal()));
  }
  world.clock().run_for(100ms);
  EXPECT_LE(problems_of(world.node(0)).size(), 16U);
  EXPECT_LE(world.node(0).events().size(), 32U);
  world.fabric().change_port(1, world.node(1).neighbours().ports()[0].id, [](PortFacts& facts) { facts.mtu = 1400; });
  world.clock().run_for(500ms);
  EXPECT_THAT(problems_of(world.node(0)), Contains(HasSubstr("of node n1 has 1400")));
  EXPECT_THAT(problems_of(world.node(0)), Contains(HasSubstr("another cluster")));
}

// A switch: every two of its ports form a cable.
TEST(Node, JoinsAllPortsOfASegment) {
  NodeWorld world(10);
  world.build(4, {});
  std::vector<std::pair<std::size_t, PortId>> ends;
  for (std::size_t node = 0; node < 4; ++node) {
    PortFacts facts;
    facts.interface = "eth0";
    facts.mtu = 9000;
    PortPrefix prefix;
    prefix.address.bytes = {10, 1, 0, static_cast<std::uint8_t>(node + 1)};
    prefix.prefix_length = 24;
    facts.addresses = {prefix};
    ends.emplace_back(node, world.fabric().add_port(node, facts));
  }
  world.fabric().join(ends);
  world.start_all();
  ASSERT_TRUE(world.settle(2s, [&] { return all_see(world, 6); }));
  EXPECT_EQ(test::first_path(world.node(3).paths(), "n0", 0)->size(), 1U);
}

TEST(Node, HundredsAgree) {
  constexpr std::uint32_t kSide = test::kSlowBuild ? 8 : 20;
  NodeWorld world(11);
  world.build(kSide * kSide, routing::torus_pairs(kSide, kSide));
  world.start_all();
  ASSERT_TRUE(world.settle(20s, [&] { return cables_seen(world.node(5)) == 2U * kSide * kSide; }));
  // The database holds one advertisement per node.
  EXPECT_EQ(world.node(0).flooding().database().size(), world.size());
}

}  // namespace
}  // namespace cableway
