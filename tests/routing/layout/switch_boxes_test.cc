#include "routing/layout/switch_boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;

bool keeps_none(const Cable&) {
  return false;
}

Topology generated(const char* spec) {
  absl::StatusOr<Topology> topology = generate_topology(spec);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

std::vector<std::string> ports_of(const BoxedTopology& boxed) {
  std::vector<std::string> names;
  for (const auto& [cable, port] : boxed.ports) names.push_back(port.node);
  return names;
}

TEST(SwitchBoxes, ASwitchIsANodeWithACableToEachPort) {
  const Topology topology = generated("switch:4");
  const BoxedTopology boxed = with_switch_boxes(topology, keeps_none);
  EXPECT_THAT(boxed.boxes, ElementsAre("switch"));
  EXPECT_EQ(boxed.drawn.node_count(), 5U);
  ASSERT_EQ(boxed.drawn.cable_count(), 4U);
  EXPECT_THAT(ports_of(boxed), ElementsAre("n0", "n1", "n2", "n3"));
  const NodeIndex box = *boxed.drawn.find_node("switch");
  for (const Cable& cable : boxed.drawn.cables()) {
    ASSERT_TRUE(cable.a.node == box || cable.b.node == box);
    const SwitchPort& port = boxed.ports.at(cable.name);
    EXPECT_EQ(boxed.drawn.node(cable.a.node == box ? cable.b.node : cable.a.node).name, port.node);
    EXPECT_EQ(port.box, "switch");
    EXPECT_EQ(port.others, 3U);
    EXPECT_EQ(port.cables.size(), 3U);
    EXPECT_EQ(port.rate_mbps, topology.cables()[0].rate_mbps);
    for (const std::string& name : port.cables) {
      const Cable& replaced = *topology.find_plugged(name);
      EXPECT_TRUE(topology.node(replaced.a.node).name == port.node || topology.node(replaced.b.node).name == port.node);
    }
  }
}

TEST(SwitchBoxes, CablesAreNoSwitch) {
  for (const char* spec : {"ring:3", "mesh:4", "twins:3", "sparks:3", "star:4"}) {
    const Topology topology = generated(spec);
    const BoxedTopology boxed = with_switch_boxes(topology, keeps_none);
    EXPECT_EQ(boxed.drawn, topology) << spec;
    EXPECT_TRUE(boxed.boxes.empty() && boxed.ports.empty()) << spec;
  }
}

TEST(SwitchBoxes, ASwitchOfWhichACableIsKeptStays) {
  const Topology topology = generated("switch:3");
  const std::string kept = topology.cables()[1].name;
  const BoxedTopology boxed = with_switch_boxes(topology, [&](const Cable& cable) { return cable.name == kept; });
  EXPECT_EQ(boxed.drawn, topology);
}

TEST(SwitchBoxes, OtherCablesStayAndNamesAreNotTakenTwice) {
  std::vector<Node> nodes = sample_nodes(7);
  nodes[6].name = "switch";
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2});
  for (Cable& cable : switch_segment(10, {3, 4, 5})) cables.push_back(std::move(cable));
  cables.push_back(sample_cable(20, 2, 6));
  cables.push_back(sample_cable(21, 5, 6));
  cables.back().draining = true;
  cables.back().name = "port-1";
  const Topology topology = make_topology(nodes, cables);
  const BoxedTopology boxed = with_switch_boxes(topology, keeps_none);
  EXPECT_THAT(boxed.boxes, ElementsAre("switch-2", "switch-3"));
  EXPECT_EQ(boxed.drawn.node_count(), 9U);
  EXPECT_EQ(boxed.drawn.cable_count(), 7U);
  EXPECT_EQ(boxed.drawn.unused_cables().size(), 1U);
  EXPECT_FALSE(boxed.ports.contains("port-1"));
  EXPECT_TRUE(boxed.drawn.find_cable("c20"));
}

// A port that one of the others hears alone belongs to no set of ports that are all joined.
TEST(SwitchBoxes, PortsThatAreNotAllJoinedAreNoSwitch) {
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2, 3});
  for (const std::size_t lost : {5U, 4U}) {
    cables.erase(cables.begin() + static_cast<std::ptrdiff_t>(lost));
    const Topology topology = make_topology(sample_nodes(4), cables);
    EXPECT_EQ(with_switch_boxes(topology, keeps_none).drawn, topology) << lost;
  }
}

}  // namespace
}  // namespace cableway::routing
