// Which circuits a relay accepts (core/node/transit_check.h): over its own cables, whatever is flooded about them, and
// only to TCP ports that the neighbour's node has announced (core/flooding/told_ports.h). Whole nodes in virtual time,
// and insiders that announce and flood what they like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/discovery/control_datagram.h"
#include "core/flooding/told_ports.h"
#include "core/node/node.h"
#include "sim/nodes/lying_node.h"
#include "sim/nodes/node_world.h"
#include "tests/routing/sample_topologies.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Longer than any list waits at its sender and at its receiver.
constexpr auto kTold = 2 * kTellPortsEvery + 50ms;

//   n0 --- n1 --- n2 --- n3
//          |
//          the place of an insider
class NodesTellPortsTest : public testing::Test {
 protected:
  NodesTellPortsTest() {
    auto cables = routing::line_pairs(4);
    cables.emplace_back(1, kInsider);
    world_.build(5, cables);
    world_.observe_told([this](sim::NodeWorld::NodeNumber node) { told_ += node == 1; });
    start();
  }
  void start() {
    for (std::size_t node = 0; node < kInsider; ++node) world_.start(node);
    EXPECT_TRUE(settle());
  }
  bool settle() {
    return world_.settle(10s, [this] { return world_.node(0).paths().topology().cable_count() == 3; });
  }
  CircuitSetup setup_to(const std::string& to, std::uint16_t port) {
    const auto paths = world_.node(0).paths().paths_for_flow(to, 0, 1);
    CircuitSetup setup;
    setup.from_node = "n0";
    setup.hops = paths.value().front().hops;
    setup.hops.back().to_port = port;
    return setup;
  }
  // What n1 says to a set-up from n0 that leaves it for this TCP port of a process of `to`.
  absl::Status check(const std::string& to, std::uint16_t port) {
    return world_.node(1).check_transit(setup_to(to, port));
  }
  std::unique_ptr<sim::LyingNode> insider(const std::string& name, std::uint64_t boot_nonce) {
    auto liar = std::make_unique<sim::LyingNode>(NodeIdentity{"test", name, boot_nonce}, world_.clock(),
                                                 world_.fabric().ports_of(kInsider), no_seal_);
    liar->start();
    world_.clock().run_for(3s);
    EXPECT_EQ(liar->neighbours_up(), 1U);
    return liar;
  }
  // Floods what n1 has of the node, changed, as its next version.
  void forge(const std::string& name, sim::LyingNode& liar,
             const std::function<void(routing::Advertisement&)>& change) {
    routing::Advertisement forged = *world_.node(1).flooding().database().find(routing::node_id("test", name));
    ++forged.version.sequence;
    change(forged);
    liar.say(forged);
  }
  // n1 believes that this neighbour of it has no cables, until the neighbour supersedes that.
  void hide_cables_of(const std::string& name, sim::LyingNode& liar) {
    forge(name, liar, [](routing::Advertisement& forged) { forged.adjacencies.clear(); });
    ASSERT_TRUE(world_.clock().run_until_true(
        [&] {
          const routing::Topology& topology = world_.node(1).paths().topology();
          const std::optional<routing::NodeIndex> node = topology.find_node(name);
          return !node.has_value() || topology.adjacencies(*node).empty();
        },
        1s));
  }
  // As n1 sees the insider.
  NeighbourKey insider_key() {
    const auto& all = world_.node(1).neighbours().all();
    const auto found =
        std::find_if(all.begin(), all.end(), [](const auto& each) { return each.second.our_interface == "eth2"; });
    return found == all.end() ? NeighbourKey() : found->first;
  }

  static constexpr std::size_t kInsider = 4;
  const NoSeal no_seal_{};
  sim::NodeWorld world_{1};
  int told_ = 0;
};

TEST_F(NodesTellPortsTest, ARelayConnectsToToldPortsOnly) {
  const absl::Status unknown = check("n2", 5000);
  EXPECT_TRUE(absl::IsNotFound(unknown)) << unknown;
  EXPECT_THAT(unknown.message(),
              HasSubstr("node n1 does not connect to TCP port 5000 of node n2, which has not announced"));
  EXPECT_TRUE(absl::IsNotFound(check("n2", world_.node(2).relay_port()))) << "as if a process listened there";
  told_ = 0;
  world_.node(2).tell_ports({5000, 5001});
  world_.clock().run_for(kTold);
  EXPECT_EQ(told_, 1);
  EXPECT_TRUE(check("n2", 5000).ok()) << check("n2", 5000);
  EXPECT_TRUE(absl::IsNotFound(check("n2", 22)));
  EXPECT_TRUE(check("n3", 22).ok()) << "the next hop is a relay, which decides";
}

TEST_F(NodesTellPortsTest, ALostPortCountsForAMinute) {
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(kTold);
  world_.node(2).tell_ports({});
  world_.clock().run_for(ToldPorts::kFormer - 10s);
  EXPECT_TRUE(check("n2", 5000).ok());
  world_.clock().run_for(11s);
  EXPECT_TRUE(absl::IsNotFound(check("n2", 5000)));
}

TEST_F(NodesTellPortsTest, ARestartedRelayIsToldAgain) {
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(kTold);
  world_.kill(1);
  world_.clock().run_for(5s);
  world_.start(1);
  EXPECT_TRUE(settle());
  world_.clock().run_for(kTold);
  EXPECT_TRUE(check("n2", 5000).ok()) << check("n2", 5000);
}

TEST_F(NodesTellPortsTest, PortsOfARestartedNodeCountUntilItsProcessesAreBack) {
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(kTold);
  world_.kill(2);
  world_.clock().run_for(5s);
  world_.start(2);
  EXPECT_TRUE(settle());
  world_.clock().run_for(kTold);
  EXPECT_TRUE(check("n2", 5000).ok()) << check("n2", 5000);
  world_.clock().run_for(ToldPorts::kFormer);
  EXPECT_TRUE(absl::IsNotFound(check("n2", 5000)));
}

// An inquiry may use a cable that this node had before, and ask the process there.
TEST_F(NodesTellPortsTest, TheListOfAFormerCableCountsForInquiries) {
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(kTold);
  EXPECT_TRUE(check("n2", 5000).ok()) << check("n2", 5000);
  CircuitSetup inquiry = setup_to("n2", 5000);
  inquiry.purpose = SetupPurpose::kInquiry;
  CircuitSetup beyond = setup_to("n3", 5000);
  beyond.purpose = SetupPurpose::kInquiry;
  world_.kill(2);
  world_.clock().run_for(5s);
  EXPECT_TRUE(world_.node(1).check_transit(inquiry).ok()) << world_.node(1).check_transit(inquiry);
  EXPECT_TRUE(world_.node(1).check_transit(beyond).ok()) << world_.node(1).check_transit(beyond);
  inquiry.hops.back().to_port = 22;
  EXPECT_TRUE(absl::IsNotFound(world_.node(1).check_transit(inquiry)));
}

// Its port has another number than n2's, so that it needs nobody to vouch for it.
TEST_F(NodesTellPortsTest, WhoTakesANeighboursNameSpeaksForItsOwnCableOnly) {
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(kTold);
  const auto liar = insider("n2", world_.node(2).identity().boot_nonce);
  liar->tell({22, {22}});
  world_.clock().run_for(ToldPorts::kFormer + 1s);
  ASSERT_TRUE(world_.node(1).flooding().told_ports().has_process(insider_key(), 22, world_.node(1).now()));
  EXPECT_TRUE(absl::IsNotFound(check("n2", 22)));
  EXPECT_TRUE(check("n2", 5000).ok()) << check("n2", 5000);
  EXPECT_TRUE(check("n3", 5000).ok()) << check("n3", 5000);
}

// A flooded relay port is believed until its origin supersedes it.
TEST_F(NodesTellPortsTest, AForgedRelayPortOpensNoOther) {
  const auto liar = insider("liar", 7);
  CircuitSetup to_relay = setup_to("n3", 5000);
  ASSERT_EQ(to_relay.hops.size(), 3U);
  CircuitSetup to_22 = to_relay;
  to_22.hops[1].to_port = 22;
  forge("n2", *liar, [](routing::Advertisement& forged) { forged.relay_port = 22; });
  ASSERT_TRUE(world_.clock().run_until_true(
      [&] {
        const routing::Topology& topology = world_.node(1).paths().topology();
        return topology.node(*topology.find_node("n2")).relay_port == 22;
      },
      1s));
  const absl::Status refused = world_.node(1).check_transit(to_22);
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(refused.message(),
              HasSubstr("node n1 does not connect to TCP port 22 of node n2, whose relay has TCP port 7470"));
  EXPECT_TRUE(world_.node(1).check_transit(to_relay).ok()) << "its real one";
}

TEST_F(NodesTellPortsTest, ACableThatIsUpNeedsNoTopology) {
  const auto liar = insider("liar", 7);
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(kTold);
  const CircuitSetup to_process = setup_to("n2", 5000);
  const CircuitSetup beyond = setup_to("n3", 5000);
  for (const std::string hidden : {"n2", "n0"}) {
    hide_cables_of(hidden, *liar);
    EXPECT_TRUE(world_.node(1).check_transit(to_process).ok()) << world_.node(1).check_transit(to_process);
    EXPECT_TRUE(world_.node(1).check_transit(beyond).ok()) << world_.node(1).check_transit(beyond);
    world_.clock().run_for(1s);
  }
}

// The topology writes each with its interface, and at the hop's far end with the one that sends.
TEST_F(NodesTellPortsTest, ACableWithLinkLocalAddressesNeedsNoTopology) {
  for (std::size_t node = 0; node <= kInsider; ++node) {
    const std::vector<PortFacts> ports = world_.fabric().ports_of(node).ports();
    for (const PortFacts& port : ports) {
      const auto address =
          routing::parse_port_address(absl::StrCat("fe80::", node + 1, ":", port.id, "%", port.interface));
      world_.fabric().change_port(node, port.id, [&](PortFacts& facts) { facts.addresses = {{address.value(), 64}}; });
    }
  }
  ASSERT_TRUE(settle());
  const auto liar = insider("liar", 7);
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(kTold);
  const CircuitSetup setup = setup_to("n2", 5000);
  ASSERT_THAT(setup.hops[1].to_address, testing::EndsWith("%eth1"));
  EXPECT_TRUE(world_.node(1).check_transit(setup).ok()) << world_.node(1).check_transit(setup);
  hide_cables_of("n2", *liar);
  EXPECT_TRUE(world_.node(1).check_transit(setup).ok()) << world_.node(1).check_transit(setup);
}

// A set-up that the topology would refuse is not accepted without it.
TEST_F(NodesTellPortsTest, ACableWithoutTopologyIsNoOther) {
  const auto liar = insider("liar", 7);
  world_.node(2).tell_ports({5000, 22});
  world_.clock().run_for(kTold);
  const CircuitSetup true_setup = setup_to("n2", 5000);
  std::vector<CircuitSetup> others(8, true_setup);
  others[0].hops[0].from_address = "10.9.9.9";
  others[1].hops[0].to_address = "10.9.9.9";
  others[2].hops[0].to_port = 22;
  others[3].hops[0].routed = true;
  others[4].hops[1].from_address = "10.9.9.9";
  others[5].hops[1].to_address = "10.9.9.9";
  others[6].hops[1].routed = true;
  others[7].from_node = "n3";
  const auto expect_only_the_true_one = [&] {
    for (std::size_t i = 0; i < others.size(); ++i) EXPECT_FALSE(world_.node(1).check_transit(others[i]).ok()) << i;
    EXPECT_TRUE(world_.node(1).check_transit(true_setup).ok());
  };
  expect_only_the_true_one();
  for (const std::string hidden : {"n2", "n0"}) {
    hide_cables_of(hidden, *liar);
    expect_only_the_true_one();
    world_.clock().run_for(1s);
  }
}

TEST_F(NodesTellPortsTest, ACableThatThisNodeDrainsIsRefusedWithoutTopologyToo) {
  const auto liar = insider("liar", 7);
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(kTold);
  const CircuitSetup setup = setup_to("n2", 5000);
  CircuitSetup inquiry = setup;
  inquiry.purpose = SetupPurpose::kInquiry;
  for (const Hop& hop : setup.hops) {
    ASSERT_TRUE(world_.node(1).drain_cable(hop.cable).ok());
    world_.clock().run_for(200ms);
    EXPECT_TRUE(absl::IsUnavailable(world_.node(1).check_transit(setup)));
    EXPECT_TRUE(world_.node(1).check_transit(inquiry).ok());
    hide_cables_of("n2", *liar);
    EXPECT_TRUE(absl::IsUnavailable(world_.node(1).check_transit(setup)));
    EXPECT_TRUE(world_.node(1).check_transit(inquiry).ok());
    ASSERT_TRUE(world_.node(1).undrain_cable(hop.cable).ok());
    world_.clock().run_for(1s);
    EXPECT_TRUE(world_.node(1).check_transit(setup).ok()) << world_.node(1).check_transit(setup);
  }
}

// A set-up waits for the end of a drain that the other end has flooded, or an insider in its name.
TEST_F(NodesTellPortsTest, AFloodedDrainIsNoRefusal) {
  const auto liar = insider("liar", 7);
  world_.node(2).tell_ports({5000});
  world_.clock().run_for(kTold);
  const CircuitSetup setup = setup_to("n2", 5000);
  forge("n2", *liar, [](routing::Advertisement& forged) {
    for (routing::AdvertisedAdjacency& adjacency : forged.adjacencies) adjacency.draining = true;
  });
  ASSERT_TRUE(world_.clock().run_until_true([&] { return !world_.node(1).check_transit(setup).ok(); }, 1s));
  const absl::Status status = world_.node(1).check_transit(setup);
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("drains"));
  EXPECT_TRUE(world_.clock().run_until_true([&] { return world_.node(1).check_transit(setup).ok(); }, 1s));
}

TEST_F(NodesTellPortsTest, ANeighbourThatRelaysNothingIsNoRelay) {
  const auto liar = insider("liar", 7);
  CircuitSetup beyond = setup_to("liar", 5000);
  beyond.hops.push_back(beyond.hops.back());
  beyond.hops[1].to_port = routing::kDefaultRelayPort;
  EXPECT_TRUE(world_.node(1).check_transit(beyond).ok()) << world_.node(1).check_transit(beyond);
  liar->tell({0, {}});
  world_.clock().run_for(kTold);
  EXPECT_THAT(world_.node(1).check_transit(beyond).message(), HasSubstr("of node liar, which relays nothing"));
}

// Each list replaces all ports of the one before; a segment has room for several.
TEST_F(NodesTellPortsTest, OfManyListsTheNewestIsTakenAndFewOthers) {
  const auto liar = insider("liar", 7);
  std::vector<TcpPorts> lists(3);
  for (std::uint16_t i = 0; i < 3 * kMaxToldPorts; ++i) lists[i % 3].push_back(static_cast<std::uint16_t>(1 + i));
  told_ = 0;
  for (std::size_t i = 0; i < 200; ++i) liar->tell({7470, lists[i % 3]});
  liar->tell({7470, {6000}});
  ASSERT_TRUE(world_.clock().run_until_true([&] { return liar->has_said_all(); }, 2s));
  world_.clock().run_for(kTold);
  EXPECT_LE(told_, kTellPortsAtOnce + 4);
  EXPECT_TRUE(world_.node(1).flooding().told_ports().has_process(insider_key(), 6000, world_.node(1).now()));
}

TEST_F(NodesTellPortsTest, ProcessesThatStartTogetherAreToldAtOnce) {
  world_.clock().run_for(1s);
  TcpPorts ports;
  for (std::uint16_t port = 5000; port < 5000 + kTellPortsAtOnce; ++port) {
    ports.push_back(port);
    world_.node(2).tell_ports(ports);
    world_.clock().run_for(5ms);
    EXPECT_TRUE(check("n2", port).ok()) << check("n2", port);
  }
}

TEST_F(NodesTellPortsTest, ANodeTellsItsPortsTenTimesASecondAtMost) {
  world_.clock().run_for(1s);
  int segments = 0;
  world_.fabric().tap([&](std::size_t from, PortId, std::span<const std::byte> bytes) {
    segments += from == 2 && bytes[3] == static_cast<std::byte>(ControlKind::kSegment);
  });
  for (std::uint16_t i = 0; i < 990; ++i) {
    world_.node(2).tell_ports({static_cast<std::uint16_t>(5000 + i)});
    world_.clock().run_for(1ms);
  }
  EXPECT_LE(segments, 2 * (kTellPortsAtOnce + 10)) << "to two neighbours";
  world_.clock().run_for(kTold);
  EXPECT_TRUE(check("n2", 5989).ok()) << check("n2", 5989);
}

// A node whose host takes 10 ms for each check of what waits.
class BusyClock final : public Clock {
 public:
  explicit BusyClock(Clock& clock) : clock_(clock) {}
  void take(Duration time) { taken_ += time; }
  Instant now() const override { return clock_.now() + taken_; }
  std::unique_ptr<Timer> call_at(Instant when, std::function<void()> work) override {
    return clock_.call_at(std::max(clock_.now(), Instant{when.since_start - taken_}), std::move(work));
  }

 private:
  Clock& clock_;
  Duration taken_{0};
};

TEST_F(NodesTellPortsTest, ListsTakeLittleOfANodesTimeHoweverManyTellThem) {
  BusyClock busy(world_.clock());
  world_.kill(1);
  world_.use_clock(1, busy);
  world_.start(1);
  ASSERT_TRUE(settle());
  const auto liar = insider("liar", 7);
  told_ = 0;
  world_.observe_told([&](sim::NodeWorld::NodeNumber node) {
    if (node != 1) return;
    ++told_;
    busy.take(10ms);
  });
  for (std::uint16_t i = 0; i < 30; ++i) {
    const TcpPorts ports{static_cast<std::uint16_t>(5000 + i)};
    world_.node(0).tell_ports(ports);
    world_.clock().run_for(30ms);
    world_.node(2).tell_ports(ports);
    world_.clock().run_for(30ms);
    liar->tell({7470, ports});
    world_.clock().run_for(41ms);
  }
  EXPECT_GE(told_, 10);
  EXPECT_LE(told_, 50) << "an eighth of 3 s, and 20 ms; without a bound 90";
  world_.clock().run_for(1s);
  EXPECT_TRUE(check("n2", 5029).ok()) << check("n2", 5029);
}

}  // namespace
}  // namespace cableway
