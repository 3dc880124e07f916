// Problems that keep two ports from being neighbours, and attacks of an untrusted peer on the cable.
#include "core/discovery/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/crypto/keyed_seal.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using sim::NodeWorld;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The clock of a process that stalls: calls due during a stall run after it.
class StallingClock final : public Clock {
 public:
  explicit StallingClock(Clock& world) : world_(world) {}

  void stall_for(Duration time) { until_ = world_.now() + time; }

  Instant now() const override { return world_.now(); }
  std::unique_ptr<Timer> call_at(Instant when, std::function<void()> work) override {
    auto call = std::make_unique<Call>(*this, std::move(work));
    call->arm(when);
    return call;
  }

 private:
  class Call final : public Timer {
   public:
    Call(StallingClock& clock, std::function<void()> work) : clock_(clock), work_(std::move(work)) {}
    void arm(Instant when) {
      timer_ = clock_.world_.call_at(when, [this] {
        if (clock_.now() < clock_.until_) return arm(clock_.until_);
        const std::function<void()> work = std::move(work_);
        work();
      });
    }

   private:
    StallingClock& clock_;
    std::function<void()> work_;
    std::unique_ptr<Timer> timer_;
  };

  Clock& world_;
  Instant until_;
};

// Two nodes on one cable.
class NeighboursTest : public ::testing::Test {
 protected:
  NeighboursTest() { world_.build(2, {{0, 1}}); }

  void run() {
    world_.start_all();
    world_.clock().run_for(3s);
  }
  bool up(std::size_t node) {
    const auto& all = world_.node(node).neighbours().all();
    return std::any_of(all.begin(), all.end(), [](const auto& each) { return each.second.up; });
  }
  // Each as "CODE text".
  std::vector<std::string> problems(std::size_t node) {
    std::vector<std::string> texts;
    for (const Problem& problem : world_.node(node).neighbours().problems()) {
      texts.push_back(std::string(name_of(problem.code)) + " " + problem.text);
    }
    return texts;
  }
  PortId port(std::size_t node) { return world_.fabric().ports_of(node).ports()[0].id; }

  NodeWorld world_{1};
  std::uint64_t counter_ = 0;
};

TEST_F(NeighboursTest, HearEachOtherWithoutAProblem) {
  run();
  EXPECT_TRUE(up(0) && up(1));
  EXPECT_THAT(problems(0), IsEmpty());
  EXPECT_EQ(world_.node(0).neighbours().counters().replayed, 0U);
}

TEST_F(NeighboursTest, StayUpOverAStallOfThisNode) {
  StallingClock clock(world_.clock());
  world_.use_clock(0, clock);
  world_.use_clock(1, clock);
  run();
  ASSERT_TRUE(up(0) && up(1));
  const std::size_t events = world_.node(0).events().size();
  for (const Duration stall : {Duration(1500ms), Duration(1min)}) {
    clock.stall_for(stall);
    world_.clock().run_for(stall + 1s);
    EXPECT_TRUE(up(0) && up(1));
  }
  EXPECT_EQ(world_.node(0).events().size(), events);
}

// The end that rarely sends hellos gets its echoes rarely, and the other end hears it rarely.
TEST_F(NeighboursTest, StayUpWhereOneSendsHellosRarely) {
  for (const HelloTiming& rare : {HelloTiming{2000ms, 6000ms}, HelloTiming{1000ms, 3000ms}}) {
    NodeWorld world(3);
    world.build(2, {{0, 1}});
    world.options(0).hello = rare;
    world.fabric().set_weather({.lost_per_mille = 50});
    world.start_all();
    world.clock().run_for(60s);
    for (std::size_t node = 0; node < 2; ++node) {
      EXPECT_EQ(world.node(node).events().count(EventCode::kCableUp), 1U) << rare.interval.count();
      EXPECT_EQ(world.node(node).events().count(EventCode::kCableLost), 0U) << rare.interval.count();
    }
  }
}

// A neighbour that fell silent during the stall still times out.
TEST_F(NeighboursTest, TimeOutAHoldTimeAfterAStall) {
  StallingClock clock(world_.clock());
  world_.use_clock(0, clock);
  run();
  ASSERT_TRUE(up(0));
  world_.kill(1);
  clock.stall_for(10s);
  world_.clock().run_for(10s + 800ms);
  EXPECT_TRUE(up(0)) << "it has run for less than a hold time";
  world_.clock().run_for(400ms);
  EXPECT_FALSE(up(0));
}

TEST_F(NeighboursTest, OfAnotherClusterAreReported) {
  world_.options(1).identity.cluster = "other";
  run();
  EXPECT_FALSE(up(0) || up(1));
  EXPECT_THAT(problems(0),
              Contains(AllOf(HasSubstr("CLUSTER_DIFFERS"), HasSubstr("another cluster than test"), HasSubstr("eth0"))));
  const std::vector<Event> events = world_.node(0).events().events();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].code, EventCode::kClusterDiffers);
  EXPECT_THAT(events[0].fields, ElementsAre(EventField{"port", "eth0"}, EventField{"address", "10.0.0.2"}));
}

TEST_F(NeighboursTest, WithAnotherKeyOrNoneAreReported) {
  const KeyedSeal key(*KeyRing::parse(std::string(64, 'a')));
  const KeyedSeal other(*KeyRing::parse(std::string(64, 'b')));
  world_.use_seal(0, key);
  world_.use_seal(1, key);
  run();
  EXPECT_TRUE(up(0) && up(1)) << "the same key";
  world_.kill(1);
  world_.use_seal(1, other);
  world_.start(1);
  world_.clock().run_for(3s);
  EXPECT_FALSE(up(0) || up(1));
  EXPECT_THAT(problems(0), Contains(AllOf(HasSubstr("KEY_DIFFERS"), HasSubstr("CABLEWAY_KEY_FILE"))));
  EXPECT_THAT(problems(1), Contains(HasSubstr("CABLEWAY_KEY_FILE")));
}

// The three steps in which a cluster changes its key, one node at a time.
TEST_F(NeighboursTest, KeepTheirCableWhileTheKeyIsChanged) {
  const std::string before(64, 'a');
  const std::string after(64, 'b');
  KeyedSeal seals[] = {KeyedSeal(*KeyRing::parse(before)), KeyedSeal(*KeyRing::parse(before))};
  for (const std::uint32_t node : {0U, 1U}) world_.use_seal(node, seals[node]);
  run();
  ASSERT_TRUE(up(0) && up(1));
  for (const std::string& text : {before + "\n" + after, after + "\n" + before, after}) {
    for (KeyedSeal& seal : seals) {
      seal.use(std::make_shared<const KeyRing>(*KeyRing::parse(text)));
      world_.clock().run_for(3s);
      EXPECT_TRUE(up(0) && up(1)) << text;
      EXPECT_THAT(problems(0), IsEmpty());
      EXPECT_THAT(problems(1), IsEmpty());
    }
  }
}

TEST_F(NeighboursTest, WithAnotherMtuAreReportedUntilItIsFixed) {
  world_.fabric().change_port(1, port(1), [](PortFacts& facts) { facts.mtu = 9000; });
  run();
  EXPECT_FALSE(up(0) || up(1));
  EXPECT_THAT(problems(0),
              Contains(AllOf(HasSubstr("CABLE_REFUSED"), HasSubstr("MTU 1500"), HasSubstr("9000"), HasSubstr("n1"))));
  world_.fabric().change_port(1, port(1), [](PortFacts& facts) { facts.mtu = 1500; });
  world_.clock().run_for(7s);
  EXPECT_TRUE(up(0) && up(1));
  EXPECT_THAT(problems(0), IsEmpty());
}

TEST_F(NeighboursTest, WithThisNodesNameAreReported) {
  world_.options(1).identity.name = "n0";
  run();
  EXPECT_FALSE(up(0) || up(1));
  EXPECT_THAT(problems(0),
              Contains(AllOf(HasSubstr("NAME_TAKEN"), HasSubstr("called n0"), HasSubstr("CABLEWAY_NODE"))));
}

TEST_F(NeighboursTest, ACableFromANodeToItselfIsReported) {
  NodeWorld world(2);
  world.build(1, {});
  world.fabric().add_cable(0, 0);
  world.start_all();
  world.clock().run_for(900ms);
  EXPECT_THAT(world.node(0).neighbours().problems(), IsEmpty());  // a neighbour may not have been heard yet
  world.clock().run_for(400ms);
  const std::vector<Problem> problems = world.node(0).neighbours().problems();
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].code, EventCode::kCableToSelf);
  EXPECT_THAT(problems[0].text, AllOf(HasSubstr("eth0"), HasSubstr("eth1"), HasSubstr("loops back to this node")));
}

// An attacker who taps the cable replays every datagram, at once and much later.
TEST_F(NeighboursTest, ReplaysChangeNothing) {
  std::vector<std::vector<std::byte>> heard;
  world_.fabric().tap([&](std::size_t from, PortId, std::span<const std::byte> bytes) {
    if (from == 1 && heard.size() < 500) heard.emplace_back(bytes.begin(), bytes.end());
  });
  run();
  ASSERT_TRUE(up(0));
  const auto address = world_.fabric().ports_of(1).ports()[0].addresses[0].address;
  const std::size_t events = world_.node(0).events().size();
  for (const auto& bytes : heard) world_.fabric().inject(0, port(0), address, bytes);
  world_.clock().run_for(1s);
  EXPECT_TRUE(up(0));
  EXPECT_EQ(world_.node(0).events().size(), events);
  EXPECT_GT(world_.node(0).neighbours().counters().replayed, 0U);

  // Replays do not keep a dead node up.
  world_.kill(1);
  world_.clock().run_for(3s);
  ASSERT_FALSE(up(0));
  for (int again = 0; again < 3; ++again) {
    for (const auto& bytes : heard) world_.fabric().inject(0, port(0), address, bytes);
    world_.clock().run_for(500ms);
    EXPECT_FALSE(up(0)) << "it may be heard, but it does not echo the current adjacency number";
  }
}

TEST_F(NeighboursTest, NoiseIsCountedAndDropped) {
  run();
  std::mt19937_64 random(3);
  const auto address = world_.fabric().ports_of(1).ports()[0].addresses[0].address;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> noise(random() % 200);
    for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
    world_.fabric().inject(0, port(0), address, std::move(noise));
  }
  world_.clock().run_for(1s);
  EXPECT_TRUE(up(0));
  EXPECT_GE(world_.node(0).neighbours().counters().garbage, 1900U);
}

// A party at n1's end of the cable that sends n0 hellos of nodes that do not exist.
class InventedNodesTest : public NeighboursTest {
 protected:
  InventedNodesTest() {
    run();
    address_ = world_.fabric().ports_of(1).ports()[0].addresses[0].address;
    hello_.interface = "eth0";
    hello_.mtu = 1500;
    hello_.hold_ms = 120'000;
    hello_.addresses = hello_addresses(world_.fabric().ports_of(1).ports()[0], {});
  }
  void invent(PortId from = 1) {
    const std::vector<std::byte> body = encode_port_hello(hello_);
    const ControlDatagram datagram{ControlKind::kHello,
                                   routing::cluster_id("test"),
                                   routing::node_id("test", hello_.node),
                                   1,
                                   ++counter_,
                                   from,
                                   body};
    world_.fabric().inject(0, port(0), address_, encode_control_datagram(datagram, NoSeal()));
  }
  // It answers n0's challenge, too.
  void join(const std::string& node, PortId from = 1) {
    hello_.node = node;
    hello_.heard.clear();
    invent(from);
    world_.clock().run_for(1ms);
    for (const auto& [key, life] : world_.node(0).neighbours().challenged()) {
      if (life.name != node || key.end.neighbour_port != from) continue;
      hello_.heard = {{routing::node_id("test", "n0"), port(0), world_.node(0).identity().boot_nonce, life.number, 7,
                       false, HelloEcho(), FullSize::kAwaited}};
    }
    invent(from);
    world_.clock().run_for(1ms);
  }

  routing::PortAddress address_;
  PortHello hello_;
};

TEST_F(InventedNodesTest, AreBounded) {
  for (int i = 0; i < 1000; ++i) {
    hello_.node = "x" + std::to_string(i);
    invent();
  }
  world_.clock().run_for(100ms);
  EXPECT_EQ(world_.node(0).neighbours().challenged().size(), LifeChallenges::kMaxOfPort);
  for (int i = 0; i < 200; ++i) join("y" + std::to_string(i));
  EXPECT_EQ(world_.node(0).neighbours().all().size(), kMaxHeard - LifeChallenges::kMaxInHello);
  EXPECT_TRUE(up(0)) << "the existing neighbour stays";
  EXPECT_THAT(problems(0), Contains(AllOf(HasSubstr("SEGMENT_CROWDED"), HasSubstr("more than 112 ports are on"),
                                          HasSubstr(": those of y111, y112, y113, y114, y115, y116, y117, y118 and "),
                                          HasSubstr(" are ignored"))));
}

TEST_F(InventedNodesTest, HaveAFewPortsOnOnePort) {
  for (PortId from = 1; from <= 40; ++from) {
    hello_.interface = "eth" + std::to_string(from);
    join("x", from);
  }
  EXPECT_EQ(world_.node(0).neighbours().all().size(), 1U + 16U);
  EXPECT_THAT(problems(0), Contains(AllOf(HasSubstr("SEGMENT_CROWDED"), HasSubstr("more than 16 ports of node x"))));
}

TEST_F(InventedNodesTest, AreHeardAtABoundedRate) {
  join("x");
  const auto interface = [&] {
    const auto& all = world_.node(0).neighbours().all();
    return all.at({port(0), routing::node_id("test", "x"), 1}).interface;
  };
  ASSERT_EQ(interface(), "eth0");
  for (int i = 0; i < 1000; ++i) {
    hello_.interface = "eth" + std::to_string(i);
    invent();
  }
  world_.clock().run_for(1ms);
  EXPECT_EQ(interface(), "eth" + std::to_string(Neighbours::kHelloBurst - 2)) << "the first made it a neighbour";
  world_.clock().run_for(Neighbours::kHelloEvery);
  hello_.interface = "eth1000";
  invent();
  world_.clock().run_for(1ms);
  EXPECT_EQ(interface(), "eth1000");
}

}  // namespace
}  // namespace cableway
