// What recorded hellos, and those of a node that lies about itself, do to a node: nothing beyond their own cable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/crypto/keyed_seal.h"
#include "sim/nodes/lying_node.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using sim::LyingNode;
using sim::NodeWorld;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Recording = std::vector<std::vector<std::byte>>;

// n0 and n1 have a cable, and another party has one to n1; all nodes have a key.
//
//   n0 eth0 --- eth0 n1 eth1 --- the other party
class HostileHellosTest : public ::testing::Test {
 protected:
  HostileHellosTest() : key_(*KeyRing::parse(std::string(64, 'a'))) {
    cable_ = world_.build(3, {{0, 1}, {1, 2}})[0];
    for (std::size_t node = 0; node < 3; ++node) world_.use_seal(node, key_);
  }

  void start() {
    world_.start(0);
    world_.start(1);
    world_.clock().run_for(3s);
    ASSERT_TRUE(is_up());
  }
  // By value: what is played may be recorded, too.
  void play(Recording recording, std::size_t node, std::size_t port, Duration every) {
    const routing::PortAddress from = world_.fabric().ports_of(2).ports()[0].addresses[0].address;
    for (const auto& bytes : recording) {
      world_.fabric().inject(node, world_.fabric().ports_of(node).ports()[port].id, from, bytes);
      world_.clock().run_for(every);
    }
  }
  // All that n0 sends from now on.
  void record(Recording& recording) {
    world_.fabric().tap([&recording](std::size_t from, PortId, std::span<const std::byte> bytes) {
      if (from == 0) recording.emplace_back(bytes.begin(), bytes.end());
    });
  }
  // Between n0 and n1, as n1 sees it.
  bool is_up() {
    const auto& all = world_.node(1).neighbours().all();
    return std::any_of(all.begin(), all.end(), [](const auto& each) { return each.second.up; });
  }
  std::vector<std::string> problems(std::size_t node) {
    std::vector<std::string> texts;
    for (const Problem& problem : world_.node(node).problems()) texts.push_back(problem.text);
    return texts;
  }

  NodeWorld world_{1};
  const KeyedSeal key_;
  sim::CableFabric::SegmentNumber cable_ = 0;
};

// The recordings are of n0's present life, of the one before, and are played for as long as n0 is away and beyond.
TEST_F(HostileHellosTest, RecordedOnesKeepNobodyOut) {
  Recording recording;
  record(recording);
  start();
  world_.kill(0);
  const std::size_t events = world_.node(1).events().size();
  play(recording, 1, 1, 100ms);
  EXPECT_TRUE(world_.node(1).neighbours().all().empty()) << "a recording is no neighbour";
  EXPECT_EQ(world_.node(1).events().size(), events + 1) << "the cable was lost, and nothing else happened";

  world_.start(0);
  const Recording first(recording.begin(), recording.begin() + 10);
  play(first, 1, 1, 100ms);
  EXPECT_TRUE(is_up());
  EXPECT_THAT(problems(1), IsEmpty());
  const auto& all = world_.node(1).neighbours().all();
  EXPECT_TRUE(
      std::all_of(all.begin(), all.end(), [](const auto& each) { return each.second.our_interface == "eth0"; }));
}

// As often as the party likes; only the first copy of each is no copy.
TEST_F(HostileHellosTest, RecordedOnesAreCounted) {
  Recording recording;
  record(recording);
  start();
  world_.kill(0);
  world_.clock().run_for(2s);
  const std::uint64_t before = world_.node(1).neighbours().counters().replayed;
  for (int again = 0; again < 3; ++again) play(recording, 1, 1, 1ms);
  EXPECT_GE(world_.node(1).neighbours().counters().replayed, before + recording.size());
  EXPECT_TRUE(world_.node(1).neighbours().all().empty());
}

TEST_F(HostileHellosTest, ANodesOwnRecordedHellosAreNoOtherNodeOfItsName) {
  Recording recording;
  record(recording);
  start();
  world_.kill(0);
  world_.start(0);
  world_.clock().run_for(1s);
  play(recording, 0, 0, 50ms);
  EXPECT_THAT(problems(0), IsEmpty());
  EXPECT_TRUE(is_up());
}

// They would make a wire of the two ports, and one cable of two.
TEST_F(HostileHellosTest, ANodesOwnRecordedHellosJoinNoPorts) {
  start();
  Recording recording;
  world_.fabric().tap([&recording](std::size_t from, PortId, std::span<const std::byte> bytes) {
    if (from == 1) recording.emplace_back(bytes.begin(), bytes.end());
  });
  world_.clock().run_for(2s);
  const Recording recorded = recording;
  play(recorded, 1, 0, 20ms);
  play(recorded, 1, 1, 20ms);
  EXPECT_THAT(problems(1), IsEmpty());
  for (const PortFacts& port : world_.node(1).neighbours().ports()) EXPECT_EQ(port.plug, "") << port.interface;
}

// More lives than a hello has room for, each of another node: a real one is still found at once on the same port.
TEST_F(HostileHellosTest, ACrowdOfRecordedLivesHidesNoRealNode) {
  start();
  PortHello hello;
  hello.interface = "eth0";
  hello.mtu = 1500;
  hello.hold_ms = 120'000;
  hello.addresses = hello_addresses(world_.fabric().ports_of(2).ports()[0], {});
  Recording crowd;
  for (int i = 0; i < 1000; ++i) {
    hello.node = "x" + std::to_string(i);
    const std::vector<std::byte> body = encode_port_hello(hello);
    crowd.push_back(encode_control_datagram(
        {ControlKind::kHello, routing::cluster_id("test"), routing::node_id("test", hello.node), 1, 1, 1, body}, key_));
  }
  play(crowd, 1, 1, 1ms);
  EXPECT_LE(world_.node(1).neighbours().challenged().size(), LifeChallenges::kMaxOfPort);
  world_.start(2);
  for (int again = 0; again < 5; ++again) {
    for (std::size_t i = 0; i < crowd.size(); i += 10) play({crowd[i]}, 1, 1, 1ms);
  }
  const auto& all = world_.node(1).neighbours().all();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const auto& each) { return each.second.up; }), 2);
  EXPECT_THAT(problems(1), IsEmpty());
}

// A party on the cable holds n0's hellos back, and passes every other one on ever later. So n0 would seem to live for
// as long again as it did.
TEST_F(HostileHellosTest, HellosThatAreHeldBackKeepNobodyUp) {
  start();
  Recording held;
  record(held);
  world_.fabric().set_mute(cable_, 0, true);
  for (std::size_t next = 0; next < 40; ++next) {
    world_.clock().run_for(200ms);
    if (next < held.size()) play({held[next]}, 1, 0, 0ms);
    if (is_up()) continue;
    EXPECT_GE(next, 10U) << "up to 3 s are bridged";
    return;
  }
  FAIL() << "it is still up";
}

// It answers challenges, and so may keep its own cable, for a bounded time.
TEST_F(HostileHellosTest, AHoldTimeIsBounded) {
  start();
  LyingNode liar({"test", "liar", 7}, world_.clock(), world_.fabric().ports_of(2), key_, {100ms, 120s});
  liar.start();
  world_.clock().run_for(1s);
  ASSERT_EQ(liar.neighbours_up(), 1U);
  EXPECT_THAT(problems(1), Contains(AllOf(HasSubstr("node liar on port eth1 has a hold time of 120000 ms"),
                                          HasSubstr("this node uses 4000 ms"), HasSubstr("CABLEWAY_HOLD_MS"))));
  world_.fabric().ports_of(2).listen([](const ReceivedDatagram&) {});
  world_.fabric().set_off(2, true);
  world_.clock().run_for(4500ms);
  const auto& all = world_.node(1).neighbours().all();
  EXPECT_EQ(all.size(), 1U) << "only n0";
}

// A second node of n0's name on another cable, with the greatest nonce there is: n0 keeps its place, and the problem
// names the port of the newcomer.
TEST_F(HostileHellosTest, TheLaterOfTwoNodesOfOneNameIsRefused) {
  start();
  LyingNode liar({"test", "n0", ~std::uint64_t{0} - 1}, world_.clock(), world_.fabric().ports_of(2), key_);
  liar.start();
  world_.clock().run_for(3s);
  EXPECT_TRUE(is_up());
  EXPECT_EQ(liar.neighbours_up(), 0U);
  EXPECT_THAT(problems(1), Contains(HasSubstr("two nodes are called n0, one on port eth1")));
}

// It claims the address of n0, in a subnet that it makes n1's port share.
TEST_F(HostileHellosTest, AnAddressBelongsToWhomItServesAlready) {
  const PortPrefix stolen = world_.fabric().ports_of(0).ports()[0].addresses[0];
  const auto with = [&](std::uint8_t last) {
    PortPrefix prefix = stolen;
    prefix.address.bytes[3] = last;
    return prefix;
  };
  const PortId port = world_.fabric().ports_of(1).ports()[1].id;
  world_.fabric().change_port(1, port, [&](PortFacts& facts) { facts.addresses = {with(3)}; });
  world_.fabric().change_port(2, world_.fabric().ports_of(2).ports()[0].id,
                              [&](PortFacts& facts) { facts.addresses = {stolen}; });
  start();
  LyingNode liar({"test", "liar", 7}, world_.clock(), world_.fabric().ports_of(2), key_);
  liar.start();
  world_.clock().run_for(3s);
  EXPECT_TRUE(is_up());
  EXPECT_EQ(world_.node(0).paths().topology().cable_count(), 1U);
  EXPECT_THAT(problems(1),
              Contains(AllOf(HasSubstr("node liar (eth0) claims address 10.0.0.1, which is that of node n0"),
                             HasSubstr("give node liar another address"))));
  EXPECT_THAT(problems(1), Not(Contains(HasSubstr("give node n0"))));
}

}  // namespace
}  // namespace cableway
