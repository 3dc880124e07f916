#include "core/node/plug_rate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "routing/topology/pcie_rate.h"
#include "sim/nodes/node_world.h"

namespace cableway {
namespace {

constexpr std::uint64_t kGen5x4 = routing::pcie_rate_mbps(32, 4);
constexpr std::uint64_t kGen5x2 = routing::pcie_rate_mbps(32, 2);

PortFacts port(const std::string& plug, std::uint64_t link_mbps, const std::string& root = "",
               std::uint64_t root_mbps = 0) {
  PortFacts facts;
  facts.plug = plug;
  facts.root = root;
  facts.link_mbps = link_mbps;
  facts.root_mbps = root_mbps;
  facts.rate_mbps = root_mbps == 0 ? link_mbps : std::min(link_mbps, root_mbps);
  return facts;
}

// Each root carries a function of each plug.
std::vector<PortFacts> spark(std::uint64_t second_root = kGen5x4) {
  return {port("p0", 200000, "A", kGen5x4), port("p1", 200000, "A", kGen5x4), port("p0", 200000, "B", second_root),
          port("p1", 200000, "B", second_root)};
}

TEST(PlugRate, IsOneCablesWorthOfASpark) {
  EXPECT_EQ(fastest_plug_mbps(spark()), 196600U);
}

TEST(PlugRate, HasAPartOfTheNarrowerRoot) {
  EXPECT_EQ(fastest_plug_mbps(spark(kGen5x2)), kGen5x4 + kGen5x2);
}

TEST(PlugRate, IsNoMoreThanThePlugsLink) {
  EXPECT_EQ(fastest_plug_mbps(std::vector{port("p0", 100000, "A", kGen5x4), port("p0", 100000, "B", kGen5x4)}),
            100000U);
}

TEST(PlugRate, CountsARootOnce) {
  EXPECT_EQ(fastest_plug_mbps(std::vector{port("p0", 200000, "A", kGen5x4), port("p0", 200000, "A", kGen5x4)}),
            kGen5x4);
}

TEST(PlugRate, IsThatOfTheFastestPlugAndNoSum) {
  EXPECT_EQ(fastest_plug_mbps(std::vector{port("p0", 100000), port("p1", 25000), port("", 40000)}), 100000U);
  EXPECT_EQ(fastest_plug_mbps(std::vector{port("", 10000), port("", 10000)}), 10000U);
}

TEST(PlugRate, IsNotKnownWithoutARate) {
  EXPECT_EQ(fastest_plug_mbps({}), 0U);
  EXPECT_EQ(fastest_plug_mbps(std::vector{port("p0", 0, "A", kGen5x4), port("", 0)}), 0U);
}

TEST(PlugRate, IsWhatANodeReportsToItsProcesses) {
  sim::NodeWorld world(1);
  NodeOptions options;
  options.identity = {"lab", "n0", 1};
  const auto node = world.add_node(options);
  int number = 0;
  for (PortFacts facts : spark()) {
    facts.interface = "eth" + std::to_string(number);
    facts.carrier = true;
    facts.mtu = 9000;
    facts.addresses = {{*routing::parse_port_address("10.7." + std::to_string(number++) + ".1"), 24}};
    world.fabric().add_port(node, facts);
  }
  world.start_all();
  EXPECT_EQ(world.node(node).welcome().rate_mbps, 196600U);
}

}  // namespace
}  // namespace cableway
