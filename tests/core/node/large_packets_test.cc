// Cables that drop large packets, in virtual time: nodes take them down although small hellos pass, and report the
// reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/node/node.h"
#include "sim/nodes/node_world.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using sim::CableFabric;
using sim::NodeWorld;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Two nodes on one cable of MTU 1500.
class LargePackets : public ::testing::Test {
 protected:
  LargePackets() : cable_(world_.build(2, {{0, 1}}).front()) {
    world_.observe_unfit([this](std::size_t node, const PortLost& lost) { unfit_[node].push_back(lost); });
  }

  // Of what node `end` sends.
  void drop_large(std::size_t end, bool drop = true) {
    world_.fabric().set_largest_packet(cable_, end, drop ? 1000 : SIZE_MAX);
  }
  void start() {
    world_.start_all();
    world_.clock().run_for(1s);
    ASSERT_TRUE(up(0) && up(1));
  }
  const Neighbour& neighbour(std::size_t node) { return world_.node(node).neighbours().all().begin()->second; }
  bool up(std::size_t node) { return !world_.node(node).neighbours().all().empty() && neighbour(node).up; }
  std::vector<std::string> problems(std::size_t node) {
    std::vector<std::string> texts;
    for (const Problem& problem : world_.node(node).problems()) {
      texts.push_back(std::string(name_of(problem.code)) + " " + problem.text);
    }
    return texts;
  }
  std::vector<std::string> reasons_of_losses(std::size_t node) {
    std::vector<std::string> reasons;
    for (const Event& event : world_.node(node).events().events()) {
      if (event.code == EventCode::kCableLost) reasons.push_back(event.fields.back().value);
    }
    return reasons;
  }
  std::uint64_t count(std::size_t node, EventCode code) { return world_.node(node).events().count(code); }

  NodeWorld world_{1};
  CableFabric::SegmentNumber cable_;
  std::array<std::vector<PortLost>, 2> unfit_;  // what each node has reported
};

TEST_F(LargePackets, ThatPassBringACableUpAtOnce) {
  world_.start_all();
  world_.clock().run_for(50ms);
  EXPECT_TRUE(up(0) && up(1)) << "the first hello is a full-size one";
}

TEST_F(LargePackets, LostOneWayTakeTheCableDownAtBothEnds) {
  start();
  drop_large(0);
  world_.clock().run_for(1700ms);
  EXPECT_TRUE(up(0) && up(1)) << "two hold times have not passed";
  world_.clock().run_for(700ms);
  EXPECT_FALSE(up(0) || up(1));
  EXPECT_THAT(problems(0),
              ElementsAre(AllOf(HasSubstr("LARGE_PACKETS_LOST large packets are lost: hellos of 1500 bytes"),
                                HasSubstr("from port eth0 do not arrive on port eth0 of node n1, small"))));
  EXPECT_THAT(problems(1),
              ElementsAre(HasSubstr("from port eth0 of node n0 do not arrive on port eth0, small ones do")));
  for (const std::size_t node : {0U, 1U}) {
    EXPECT_THAT(reasons_of_losses(node), ElementsAre(HasSubstr("large packets are lost")));
    EXPECT_EQ(world_.node(node).paths().topology().cable_count(), 0U);
  }
  EXPECT_EQ(neighbour(0).large_lost, (LargePacketLoss{.from = false, .to = true}));
  EXPECT_EQ(neighbour(1).large_lost, (LargePacketLoss{.from = true, .to = false}));

  // For as long as it lasts, with the same hellos as ever.
  const std::uint64_t before = world_.fabric().datagrams();
  world_.clock().run_for(20s);
  EXPECT_LE(world_.fabric().datagrams() - before, 2 * 250U);
  for (const std::size_t node : {0U, 1U}) {
    EXPECT_FALSE(up(node));
    EXPECT_THAT(problems(node), ElementsAre(HasSubstr("LARGE_PACKETS_LOST")));
    EXPECT_EQ(count(node, EventCode::kLargePacketsLost), 1U);
    EXPECT_EQ(count(node, EventCode::kCableLost), 1U);
  }

  drop_large(0, false);
  world_.clock().run_for(400ms);
  for (const std::size_t node : {0U, 1U}) {
    EXPECT_TRUE(up(node));
    EXPECT_THAT(problems(node), IsEmpty());
    EXPECT_FALSE(neighbour(node).large_lost.any());
  }
}

// Connections over the cable would stall, as their small packets pass.
TEST_F(LargePackets, LostEndCircuitsAtBothEnds) {
  start();
  drop_large(0);
  world_.clock().run_for(2400ms);
  for (const std::size_t node : {0U, 1U}) {
    ASSERT_THAT(unfit_[node], SizeIs(1));
    EXPECT_EQ(unfit_[node][0].interface, "eth0");
    EXPECT_EQ(unfit_[node][0].cable, "n0.eth0-n1.eth0");
    EXPECT_THAT(unfit_[node][0].reason, HasSubstr("large packets are lost"));
    EXPECT_FALSE(unfit_[node][0].only_rdma || unfit_[node][0].only_relayed);
  }
}

TEST_F(LargePackets, OfAnotherMtuAtOneEndEndCircuitsAtBoth) {
  start();
  const auto& [node, port] = world_.fabric().ends_of(cable_)[0];
  world_.fabric().change_port(node, port, [](PortFacts& facts) { facts.mtu = 1280; });
  world_.clock().run_for(300ms);
  for (const auto& reported : unfit_) {
    ASSERT_THAT(reported, SizeIs(1));
    EXPECT_THAT(reported[0].reason, AllOf(HasSubstr("MTU"), HasSubstr("1280"), HasSubstr("1500")));
  }
}

// As where an operator gives both ends jumbo frames, one after the other: connections keep to their size.
TEST_F(LargePackets, OfAGreaterMtuAtOneEndEndNoCircuits) {
  start();
  const auto& [node, port] = world_.fabric().ends_of(cable_)[0];
  world_.fabric().change_port(node, port, [](PortFacts& facts) { facts.mtu = 9000; });
  world_.clock().run_for(1s);
  EXPECT_FALSE(up(0) || up(1));
  for (const auto& reported : unfit_) EXPECT_THAT(reported, IsEmpty());
}

// Direct flows outlive their nodes, and a silent cable is for pulses and connections to find.
TEST_F(LargePackets, SilenceAndNodesThatEndEndNoCircuits) {
  start();
  world_.fabric().set_silent(cable_, true);
  world_.clock().run_for(3s);
  EXPECT_FALSE(up(0));
  world_.fabric().set_silent(cable_, false);
  world_.clock().run_for(1s);
  ASSERT_TRUE(up(0) && up(1));
  world_.kill(1);
  world_.clock().run_for(3s);
  EXPECT_FALSE(up(0));
  for (const auto& reported : unfit_) EXPECT_THAT(reported, IsEmpty());
}

TEST_F(LargePackets, LostBothWaysAreReportedSo) {
  start();
  drop_large(0);
  drop_large(1);
  world_.clock().run_for(3s);
  for (const std::size_t node : {0U, 1U}) {
    EXPECT_FALSE(up(node));
    EXPECT_THAT(problems(node), ElementsAre(HasSubstr("arrive at neither end")));
    EXPECT_THAT(reasons_of_losses(node), ElementsAre(HasSubstr("large packets are lost")));
  }
  drop_large(0, false);
  world_.clock().run_for(400ms);
  EXPECT_THAT(problems(0), ElementsAre(HasSubstr("from port eth0 of node n1 do not arrive on port eth0")));
  drop_large(1, false);
  world_.clock().run_for(400ms);
  EXPECT_TRUE(up(0) && up(1));
}

TEST_F(LargePackets, LostFromTheStartNeverBringTheCableUp) {
  drop_large(1);
  world_.start_all();
  world_.clock().run_for(1500ms);
  EXPECT_THAT(problems(0), IsEmpty()) << "they may only be late";
  world_.clock().run_for(1s);
  for (const std::size_t node : {0U, 1U}) {
    EXPECT_THAT(problems(node), ElementsAre(HasSubstr("LARGE_PACKETS_LOST")));
    EXPECT_EQ(count(node, EventCode::kCableUp), 0U);
  }
  drop_large(1, false);
  world_.clock().run_for(400ms);
  EXPECT_TRUE(up(0) && up(1));
}

TEST_F(LargePackets, LostForAWhileChangeNothing) {
  start();
  for (int i = 0; i < 10; ++i) {
    drop_large(i % 2);
    world_.clock().run_for(1500ms);  // and up to two intervals of full-size hellos before and after
    drop_large(i % 2, false);
    world_.clock().run_for(300ms);
  }
  for (const std::size_t node : {0U, 1U}) {
    EXPECT_TRUE(up(node));
    EXPECT_EQ(count(node, EventCode::kCableLost), 0U);
  }
}

// A fifth of all hellos are lost, of any size. After one that arrives, all full-size ones of two hold times are lost
// three times in 10 million.
TEST_F(LargePackets, LostAtRandomLikeSmallOnesChangeNothing) {
  world_.fabric().set_weather(cable_, CableFabric::Weather{.lost_per_mille = 200});
  world_.start_all();
  world_.clock().run_for(5s);
  ASSERT_TRUE(up(0) && up(1));
  world_.clock().run_for(std::chrono::minutes(test::kSlowBuild ? 10 : 100));
  for (const std::size_t node : {0U, 1U}) EXPECT_THAT(reasons_of_losses(node), IsEmpty());
}

// Where half of all hellos are lost, cables go down by chance: half as often for want of full-size hellos as for want
// of any, since as many in a row must be lost of half as many.
TEST_F(LargePackets, AreMissedAtRandomLessOftenThanAllHellos) {
  world_.fabric().set_weather(cable_, CableFabric::Weather{.lost_per_mille = 500});
  std::uint64_t silent = 0;
  std::uint64_t large = 0;
  world_.observe([&](NodeWorld::NodeNumber, const Event& event) {
    if (event.code != EventCode::kCableLost) return;
    const std::string& reason = event.fields.back().value;
    silent += reason.find("nothing was heard") != std::string::npos ? 1 : 0;
    large += reason.find("large packets are lost") != std::string::npos ? 1 : 0;
  });
  world_.start_all();
  world_.clock().run_for(std::chrono::hours(test::kSlowBuild ? 1 : 5));
  EXPECT_GT(silent, test::kSlowBuild ? 20U : 100U);
  EXPECT_GT(large, 0U);
  EXPECT_LT(large, 2 * silent) << "each is reported by both ends";
  RecordProperty("silent", static_cast<int>(silent));
  RecordProperty("large", static_cast<int>(large));
}

// Both ends are given jumbo frames, the switch in between is not.
TEST_F(LargePackets, OfALargerMtuAreTestedAgain) {
  for (const std::size_t end : {0U, 1U}) world_.fabric().set_largest_packet(cable_, end, 1500);
  start();
  for (const auto& [node, port] : world_.fabric().ends_of(cable_)) {
    world_.fabric().change_port(node, port, [](PortFacts& facts) { facts.mtu = 9000; });
  }
  world_.clock().run_for(3s);
  EXPECT_FALSE(up(0) || up(1));
  EXPECT_THAT(problems(0), Contains(HasSubstr("hellos of 9000 bytes")));
}

TEST_F(LargePackets, HaveExactlyTheMtuOrTheLargestDatagram) {
  std::vector<std::size_t> sizes;
  world_.fabric().tap(
      [&](NodeWorld::NodeNumber, PortId, std::span<const std::byte> bytes) { sizes.push_back(bytes.size()); });
  start();
  const auto largest = [&] { return *std::max_element(sizes.begin(), sizes.end()); };
  EXPECT_EQ(largest(), 1472U);
  for (const auto& [node, port] : world_.fabric().ends_of(cable_)) {
    world_.fabric().change_port(node, port, [](PortFacts& facts) { facts.mtu = 65536; });
  }
  sizes.clear();
  world_.clock().run_for(2s);
  EXPECT_EQ(largest(), kMaxDatagramBytes) << "as on loopback";
  EXPECT_TRUE(up(0) && up(1));
  const auto full = static_cast<std::size_t>(std::count(sizes.begin(), sizes.end(), kMaxDatagramBytes));
  EXPECT_NEAR(static_cast<double>(full), 20, 4) << "every second one of each node";
}

TEST(LargePacketsOnASegment, ACrowdsHellosAreLargerThanTheMtu) {
  constexpr std::size_t kNodes = 30;
  NodeWorld world(3);
  world.build(kNodes, {});
  std::vector<std::pair<std::size_t, PortId>> ends;
  for (std::size_t node = 0; node < kNodes; ++node) {
    PortFacts facts;
    facts.interface = "eth0";
    facts.mtu = 1500;
    PortPrefix prefix;
    prefix.address.bytes = {10, 1, 0, static_cast<std::uint8_t>(node + 1)};
    prefix.prefix_length = 24;
    facts.addresses = {prefix};
    ends.emplace_back(node, world.fabric().add_port(node, facts));
  }
  const CableFabric::SegmentNumber segment = world.fabric().join(ends);
  std::size_t largest = 0;
  world.fabric().tap([&](NodeWorld::NodeNumber, PortId, std::span<const std::byte> bytes) {
    largest = std::max(largest, bytes.size());
  });
  world.start_all();
  world.clock().run_for(1s);
  EXPECT_GT(largest, 1472U);
  const auto ups = [&](std::size_t node) {
    const auto& all = world.node(node).neighbours().all();
    return std::count_if(all.begin(), all.end(), [](const auto& each) { return each.second.up; });
  };
  for (std::size_t node = 0; node < kNodes; ++node) EXPECT_EQ(ups(node), std::ptrdiff_t{kNodes} - 1) << node;
  // Their fragments are large packets.
  world.fabric().set_largest_packet(segment, 5, 1000);
  world.clock().run_for(3s);
  EXPECT_EQ(ups(5), 0);
  EXPECT_EQ(ups(6), std::ptrdiff_t{kNodes} - 2);
}

}  // namespace
}  // namespace cableway
