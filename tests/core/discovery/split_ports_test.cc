// Nodes whose ports share wires: the functions of a split port hear each other and every function at the other end.
//
//     n0 eth0 --+      +-- eth0 n1
//               +------+
//     n0 eth1 --+      +-- eth1 n1
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/topology/physical_cable.h"
#include "sim/nodes/node_world.h"
#include "tests/core/node/first_path.h"
#include "tests/slow_build.h"

namespace cableway {
namespace {

using namespace std::chrono_literals;
using sim::NodeWorld;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

PortPrefix prefix(const std::string& address, std::uint8_t length) {
  return {*routing::parse_port_address(address), length};
}

class SplitPortsTest : public ::testing::Test {
 protected:
  using End = std::pair<NodeWorld::NodeNumber, PortId>;
  enum class Addresses { kSubnetEach, kLinkLocal, kOneSubnet };

  // Adds `count` ports of `node` for wire `wire`. Their interfaces' names count on over the wires of the node.
  void add_ports(NodeWorld::NodeNumber node, std::size_t wire, std::size_t count, Addresses kind) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t number = world_->fabric().ports_of(node).ports().size();
      PortFacts facts;
      facts.interface = absl::StrCat("eth", number);
      facts.mtu = 1500;
      facts.rate_mbps = 100'000;
      const std::size_t subnet = kind == Addresses::kSubnetEach ? 10 * wire + i : 10 * wire;
      const std::size_t host = node * 10 + i + 1;
      if (kind != Addresses::kLinkLocal) {
        facts.addresses.push_back(prefix(absl::StrCat("10.0.", subnet, ".", host), 24));
      }
      facts.addresses.push_back(
          prefix(absl::StrCat("fe80::", node + 1, ":", absl::Hex(number), "%", facts.interface), 64));
      ends_[wire].push_back({node, world_->fabric().add_port(node, std::move(facts))});
    }
  }

  // Nodes with `ports_each` ports on each of `wires` wires; wire w joins nodes w and w + 1, in a ring.
  void build(std::size_t nodes, std::size_t wires, Addresses kind, std::size_t ports_each = 2) {
    for (std::size_t i = 0; i < nodes; ++i) {
      NodeOptions options;
      options.identity = {"lab", absl::StrCat("n", i), 0};
      world_->add_node(options);
    }
    ends_.resize(wires);
    for (std::size_t wire = 0; wire < wires; ++wire) {
      add_ports(wire % nodes, wire, ports_each, kind);
      add_ports((wire + 1) % nodes, wire, ports_each, kind);
      segments_.push_back(world_->fabric().join(ends_[wire]));
    }
  }

  void restart(std::uint64_t seed) {
    world_ = std::make_unique<NodeWorld>(seed);
    ends_.clear();
    segments_.clear();
  }

  void set_plugged(std::size_t wire, std::size_t end, bool plugged) {
    const auto& [node, port] = ends_[wire][end];
    world_->fabric().set_mute(segments_[wire], end, !plugged);
    world_->fabric().change_port(node, port, [&](PortFacts& facts) { facts.carrier = plugged; });
  }

  // "n0.eth0-n1.eth0" of each cable that `node` knows.
  std::vector<std::string> cables(NodeWorld::NodeNumber node) {
    std::vector<std::string> names;
    for (const routing::Cable& cable : topology(node).cables()) {
      names.push_back(absl::StrCat(topology(node).node(cable.a.node).name, ".", cable.a.interface, "-",
                                   topology(node).node(cable.b.node).name, ".", cable.b.interface));
    }
    return names;
  }
  const routing::Topology& topology(NodeWorld::NodeNumber node) { return world_->node(node).paths().topology(); }

  std::vector<std::string> problems() {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < world_->size(); ++i) {
      for (const Problem& problem : world_->node(i).problems()) texts.push_back(problem.text);
    }
    return texts;
  }

  std::unique_ptr<NodeWorld> world_ = std::make_unique<NodeWorld>(1);
  std::vector<std::vector<End>> ends_;  // by wire
  std::vector<sim::CableFabric::SegmentNumber> segments_;
};

TEST_F(SplitPortsTest, TwinsInTheirOwnSubnetsAreTwoCables) {
  build(2, 1, Addresses::kSubnetEach);
  world_->start_all();
  world_->clock().run_for(3s);
  for (const std::size_t node : {0U, 1U}) {
    EXPECT_THAT(cables(node), ElementsAre("n0.eth0-n1.eth0", "n0.eth1-n1.eth1"));
  }
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SplitPortsTest, TwinsWithLinkLocalAddressesArePairedByName) {
  build(2, 1, Addresses::kLinkLocal);
  world_->start_all();
  world_->clock().run_for(3s);
  for (const std::size_t node : {0U, 1U}) {
    EXPECT_THAT(cables(node), ElementsAre("n0.eth0-n1.eth0", "n0.eth1-n1.eth1"));
  }
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SplitPortsTest, TwinsInOneSubnetAreTwoCables) {
  build(2, 1, Addresses::kOneSubnet);
  world_->start_all();
  world_->clock().run_for(3s);
  EXPECT_THAT(cables(0), ElementsAre("n0.eth0-n1.eth0", "n0.eth1-n1.eth1"));
  EXPECT_EQ(cables(0), cables(1));
  EXPECT_THAT(problems(), IsEmpty());
}

// Two plugs of each node, both to the other node.
TEST_F(SplitPortsTest, FourFunctionsOnTwoWiresAreFourCables) {
  for (const Addresses kind : {Addresses::kSubnetEach, Addresses::kLinkLocal}) {
    restart(2);
    build(2, 2, kind);
    world_->start_all();
    world_->clock().run_for(3s);
    EXPECT_THAT(cables(0), ElementsAre("n0.eth0-n1.eth0", "n0.eth1-n1.eth1", "n0.eth2-n1.eth2", "n0.eth3-n1.eth3"));
    EXPECT_EQ(cables(0), cables(1));
    EXPECT_THAT(problems(), IsEmpty());
    const routing::PhysicalCables physical = routing::physical_cables(topology(0));
    EXPECT_EQ(physical.cables.size(), 2U);
    EXPECT_EQ(topology(0).cables()[0].a.plug, "wire.eth0");
    EXPECT_EQ(topology(0).cables()[3].b.plug, "wire.eth2");
  }
}

// The hardware reports the same plugs, with its own names.
TEST_F(SplitPortsTest, KeepTheHardwaresPlugs) {
  build(2, 1, Addresses::kSubnetEach);
  for (const auto& [node, port] : ends_[0]) {
    world_->fabric().change_port(node, port, [](PortFacts& facts) { facts.plug = "p0.switch-1"; });
  }
  world_->start_all();
  world_->clock().run_for(3s);
  EXPECT_EQ(topology(0).cables()[0].a.plug, "p0.switch-1");
  EXPECT_THAT(cables(0), ElementsAre("n0.eth0-n1.eth0", "n0.eth1-n1.eth1"));
}

TEST_F(SplitPortsTest, AHostWithoutTheOtherFunctionHasOneCable) {
  NodeOptions options;
  options.identity = {"lab", "n0", 0};
  world_->add_node(options);
  options.identity = {"lab", "n1", 0};
  world_->add_node(options);
  ends_.resize(1);
  add_ports(0, 0, 2, Addresses::kLinkLocal);
  add_ports(1, 0, 1, Addresses::kLinkLocal);
  world_->fabric().join(ends_[0]);
  world_->start_all();
  world_->clock().run_for(3s);
  EXPECT_THAT(cables(0), ElementsAre("n0.eth0-n1.eth0"));
  EXPECT_EQ(cables(0), cables(1));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SplitPortsTest, OneFunctionUnpluggedAndBackMovesNoOtherCable) {
  for (const Addresses kind : {Addresses::kSubnetEach, Addresses::kLinkLocal}) {
    restart(3);
    build(2, 1, kind);
    std::vector<std::string> lost;
    world_->observe([&](NodeWorld::NodeNumber, const Event& event) {
      if (event.code == EventCode::kCableLost) lost.push_back(event.text);
    });
    world_->start_all();
    world_->clock().run_for(3s);
    ASSERT_THAT(lost, IsEmpty());
    set_plugged(0, 0, false);  // n0 eth0
    world_->clock().run_for(20s);
    EXPECT_THAT(cables(0), ElementsAre("n0.eth1-n1.eth1"));
    EXPECT_EQ(cables(0), cables(1));
    EXPECT_EQ(lost.size(), 2U) << lost[0];  // once at each end
    EXPECT_THAT(problems(), IsEmpty());
    set_plugged(0, 0, true);
    world_->clock().run_for(3s);
    EXPECT_THAT(cables(0), ElementsAre("n0.eth0-n1.eth0", "n0.eth1-n1.eth1"));
    EXPECT_EQ(cables(0), cables(1));
    EXPECT_EQ(lost.size(), 2U);
    EXPECT_THAT(problems(), IsEmpty());
  }
}

// A fifth of all hellos are lost: the pairs stay, and a restarted node finds the same number again.
TEST_F(SplitPortsTest, LostHellosMoveNoCable) {
  for (std::uint64_t seed = 0; seed < test::cases_here(20U); ++seed) {
    for (const Addresses kind : {Addresses::kSubnetEach, Addresses::kLinkLocal, Addresses::kOneSubnet}) {
      restart(seed);
      build(2, 1, kind);
      world_->fabric().set_weather({.lost_per_mille = 200});
      std::vector<std::string> lost;
      world_->start_all();
      world_->clock().run_for(5s);
      const std::vector<std::string> found = cables(0);
      EXPECT_EQ(found.size(), 2U) << seed;
      EXPECT_EQ(found, cables(1)) << seed;
      world_->observe([&](NodeWorld::NodeNumber, const Event& event) {
        if (event.code == EventCode::kCableLost) lost.push_back(event.text);
      });
      world_->clock().run_for(60s);
      EXPECT_EQ(cables(0), found) << seed;
      EXPECT_THAT(lost, IsEmpty()) << seed;
      EXPECT_THAT(problems(), IsEmpty()) << seed;
      world_->kill(1);
      world_->clock().run_for(3s);
      world_->start(1);
      world_->clock().run_for(5s);
      EXPECT_EQ(cables(0).size(), 2U) << seed;
      EXPECT_EQ(cables(0), cables(1)) << seed;
    }
  }
}

// Flow k leaves through another function than flow k + 1, and arrives at another.
TEST_F(SplitPortsTest, FlowsAlternateBetweenTheFunctionsAtBothEnds) {
  build(4, 4, Addresses::kSubnetEach);
  world_->start_all();
  world_->clock().run_for(3s);
  for (const std::size_t from : {0U, 1U}) {
    for (std::uint64_t flow = 0; flow < 4; ++flow) {
      const auto here = *test::first_path(world_->node(from).paths(), absl::StrCat("n", from + 1), flow);
      const auto next = *test::first_path(world_->node(from).paths(), absl::StrCat("n", from + 1), flow + 1);
      ASSERT_EQ(here.size(), 1U);
      EXPECT_NE(here[0].from_address, next[0].from_address);
      EXPECT_NE(here[0].to_address, next[0].to_address);
    }
  }
}

// A port that two nodes see at once is on a switch: all ports stay joined, each with its own capacity.
TEST_F(SplitPortsTest, PortsOnASwitchKeepAllTheirCables) {
  for (std::size_t i = 0; i < 3; ++i) {
    NodeOptions options;
    options.identity = {"lab", absl::StrCat("n", i), 0};
    world_->add_node(options);
  }
  ends_.resize(1);
  add_ports(0, 0, 2, Addresses::kOneSubnet);
  add_ports(1, 0, 1, Addresses::kOneSubnet);
  add_ports(2, 0, 1, Addresses::kOneSubnet);
  world_->fabric().join(ends_[0]);
  world_->start_all();
  world_->clock().run_for(3s);
  EXPECT_THAT(cables(0), UnorderedElementsAre("n0.eth0-n1.eth0", "n0.eth0-n2.eth0", "n0.eth1-n1.eth0",
                                              "n0.eth1-n2.eth0", "n1.eth0-n2.eth0"));
  EXPECT_EQ(topology(1).cables()[0].a.plug, "");
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace cableway
