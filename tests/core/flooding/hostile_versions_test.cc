// An insider floods advertisements that it invents: what it can do to others ends when it does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routing/link_state/advertisement.h"
#include "sim/nodes/lying_node.h"
#include "sim/nodes/node_world.h"
#include "tests/routing/sample_topologies.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using routing::Advertisement;
using routing::kMaxSequence;
using sim::LyingNode;
using sim::NodeWorld;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Microseconds since 1970.
constexpr std::uint64_t nonce_of(int year) {
  const std::chrono::sys_days day{std::chrono::year(year) / 1 / 1};
  return static_cast<std::uint64_t>(std::chrono::microseconds(day.time_since_epoch()).count());
}

//   n0 --- n1 --- n2 --- the liar
class HostileVersionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t node = 0; node < 3; ++node) world_.start(node);
    liar_.start();
    ASSERT_TRUE(runs_until([&] { return sees_all(2) && liar_.neighbours_up() == 1; }, 3s));
  }
  bool runs_until(const std::function<bool()>& holds, Duration limit) {
    return world_.clock().run_until_true(holds, limit);
  }
  bool sees_all(std::size_t cables) {
    for (std::size_t node = 0; node < 3; ++node) {
      const routing::Topology& topology = world_.node(node).paths().topology();
      if (!topology.find_node("n0") || topology.adjacencies(*topology.find_node("n0")).size() != 1) return false;
      if (topology.cable_count() < cables) return false;
    }
    return true;
  }
  // n0 without its cable.
  Advertisement forged(std::uint64_t boot_nonce, std::uint64_t sequence) {
    Advertisement advertisement;
    advertisement.name = "n0";
    advertisement.origin = routing::node_id("test", "n0");
    advertisement.version = {boot_nonce, sequence};
    return advertisement;
  }
  std::vector<std::string> problems(std::size_t node) {
    std::vector<std::string> texts;
    for (const Problem& problem : world_.node(node).problems()) texts.push_back(problem.text);
    return texts;
  }

  NodeWorld world_{1};
  const std::vector<sim::CableFabric::SegmentNumber> cables_ = world_.build(4, routing::line_pairs(4));
  const NoSeal seal_{};
  LyingNode liar_{{"test", "liar", 7}, world_.clock(), world_.fabric().ports_of(3), seal_};
};

TEST_F(HostileVersionsTest, AnOriginSupersedesWhatItDidNotMake) {
  for (const auto& [nonce, sequence] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {5000, 1}, {5000, kMaxSequence}, {nonce_of(2045), 1}, {nonce_of(2045), kMaxSequence}}) {
    liar_.say(forged(nonce, sequence));
    ASSERT_TRUE(runs_until([&] { return !sees_all(2); }, 1s)) << "it is believed";
    EXPECT_TRUE(runs_until([&] { return sees_all(2); }, 1s)) << nonce << "." << sequence;
    EXPECT_THAT(problems(0), Contains(AllOf(HasSubstr("node n1 on port eth0 has an advertisement with this node's name "
                                                      "that this node did not make"),
                                            HasSubstr("forged"))));
    world_.clock().run_for(20s);
    EXPECT_TRUE(sees_all(2));
    EXPECT_THAT(problems(0), IsEmpty());
  }
  EXPECT_EQ(world_.node(0).events().count(EventCode::kCableLost), 0U) << "its adjacencies stay";
}

TEST_F(HostileVersionsTest, AFutureThatNoClockHasReachedIsRefused) {
  for (const std::uint64_t nonce : {nonce_of(2047), ~std::uint64_t{0} - 1}) {
    liar_.say(forged(nonce, 1));
    world_.clock().run_for(1s);
    EXPECT_TRUE(sees_all(2));
    EXPECT_THAT(problems(2), Contains(AllOf(HasSubstr("node liar on port eth1 has sent an advertisement of node n0"),
                                            HasSubstr("20 years ahead of this host's clock"))));
  }
  EXPECT_THAT(problems(0), IsEmpty());
}

// Receivers whose clocks are behind may refuse the version that supersedes it, for as long as they are behind.
TEST_F(HostileVersionsTest, TheLatestThatIsBelievedIsSupersededAgainAndAgain) {
  const auto latest = nonce_of(2026) + static_cast<std::uint64_t>(std::chrono::microseconds(Flooding::kAhead).count());
  liar_.say(forged(latest, kMaxSequence));
  ASSERT_TRUE(runs_until([&] { return !sees_all(2); }, 1s)) << "it is believed";
  EXPECT_TRUE(runs_until([&] { return sees_all(2); }, 3s));
  const std::uint64_t before = world_.node(0).flooding().counters().originated;
  world_.clock().run_for(60s);
  EXPECT_GE(world_.node(0).flooding().counters().originated, before + 55);
  world_.clock().run_for(10min);
  const std::uint64_t after = world_.node(0).flooding().counters().originated;
  world_.clock().run_for(60s);
  EXPECT_LE(world_.node(0).flooding().counters().originated, after + 2) << "the bound has moved on";
}

// With the version that n0 has made: nodes would hold the one or the other, whichever came first.
TEST_F(HostileVersionsTest, AnotherContentOfTheSameVersionIsSuperseded) {
  const auto version = world_.node(1).flooding().database().find(routing::node_id("test", "n0"))->version;
  Advertisement twin = forged(version.boot_nonce, version.sequence);
  twin.relay_port = 65'535;
  twin.ports.clear();
  twin.name = "n0";
  twin.draining = true;
  liar_.say(twin);
  world_.clock().run_for(2s);
  EXPECT_TRUE(sees_all(2));
  for (std::size_t node = 0; node < 3; ++node) {
    const Advertisement* held = world_.node(node).flooding().database().find(twin.origin);
    EXPECT_FALSE(held->draining);
    EXPECT_GT(held->version, version);
  }
}

// For as long as it goes on both are right by turns; others are not touched, and all is well once it ends.
TEST_F(HostileVersionsTest, ForgeriesWithoutEndHurtNobodyElse) {
  std::uint64_t nonce = 5000;
  for (int i = 0; i < 100; ++i) {
    liar_.say(forged(++nonce, 1));
    world_.clock().run_for(50ms);
    const routing::Topology& topology = world_.node(2).paths().topology();
    EXPECT_EQ(topology.cables_between(*topology.find_node("n1"), *topology.find_node("n2")).size(), 1U);
  }
  EXPECT_THAT(problems(0), Contains(HasSubstr("another node of cluster test seems to be called n0 too")));
  EXPECT_LE(world_.node(0).flooding().counters().originated, 30U) << "it answers twice a second";
  EXPECT_TRUE(runs_until([&] { return sees_all(2); }, 5s));
}

// A cable between two invented nodes that claims the addresses of a real one: it takes nothing from that.
TEST_F(HostileVersionsTest, InventedNodesTakeNoAddress) {
  const Advertisement* real = world_.node(1).flooding().database().find(routing::node_id("test", "n0"));
  const routing::PortAddress stolen = real->adjacencies[0].address;
  const auto invented = [&](const std::string& name, const std::string& other) {
    Advertisement advertisement;
    advertisement.name = name;
    advertisement.origin = routing::node_id("test", name);
    advertisement.version = {1, 1};
    advertisement.ports.push_back({.id = 1, .interface = "eth0", .plug = "", .root = ""});
    advertisement.adjacencies.push_back({1, routing::node_id("test", other), 1, stolen});
    return advertisement;
  };
  Advertisement second = invented("a1", "a0");
  second.adjacencies[0].address.bytes[3] ^= 0x40;
  liar_.say(invented("a0", "a1"));
  liar_.say(second);
  ASSERT_TRUE(
      runs_until([&] { return world_.node(0).paths().topology().find_cable("a0.eth0-a1.eth0").has_value(); }, 2s));
  EXPECT_TRUE(sees_all(3));
  EXPECT_THAT(world_.node(0).left_out(), IsEmpty());
}

// A real neighbour that claims an address of a node near it, on its own cable.
TEST_F(HostileVersionsTest, ANeighbourThatClaimsAnAddressLosesItsOwnCableOnly) {
  const auto has_liar = [&] {
    const routing::Topology& topology = world_.node(0).paths().topology();
    return !topology.adjacencies(*topology.find_node("liar")).empty();
  };
  ASSERT_TRUE(runs_until(has_liar, 2s));
  for (const std::size_t owner : {1U, 2U}) {
    for (const PortFacts& port : world_.fabric().ports_of(owner).ports()) {
      liar_.claim_address(port.addresses.front().address);
      world_.clock().run_for(1s);
      EXPECT_FALSE(has_liar());
      for (std::size_t node = 0; node < 3; ++node) {
        EXPECT_EQ(world_.node(node).paths().topology().cable_count(), 2U) << owner << port.interface;
        EXPECT_THAT(world_.node(node).left_out(), Contains(HasSubstr("node liar advertises address")));
      }
    }
  }
  liar_.claim_address(std::nullopt);
  EXPECT_TRUE(runs_until(has_liar, 2s));
}

TEST_F(HostileVersionsTest, NodesSayWhichAddressesTheyHear) {
  const auto& database = world_.node(0).flooding().database();
  for (const char* name : {"n0", "n1", "n2"}) {
    for (const routing::AdvertisedAdjacency& each : database.find(routing::node_id("test", name))->adjacencies) {
      ASSERT_TRUE(each.neighbour_address.has_value()) << name;
      EXPECT_NE(each.address, *each.neighbour_address);
    }
  }
}

}  // namespace
}  // namespace cableway
