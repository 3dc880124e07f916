#include "core/live/map_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "routing/shapes/topology_generator.h"

namespace cableway {
namespace {

using nlohmann::json;
using routing::Topology;

Topology shaped(const char* shape) {
  absl::StatusOr<Topology> topology = routing::generate_topology(shape);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *std::move(topology);
}

Topology with_cables(const Topology& topology, std::vector<routing::Cable> cables) {
  absl::StatusOr<Topology> made =
      Topology::create(topology.cluster(), {topology.nodes().begin(), topology.nodes().end()}, std::move(cables));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

std::vector<routing::Cable> cables_of(const Topology& topology) {
  return {topology.cables().begin(), topology.cables().end()};
}

Topology without(const Topology& topology, const std::string& cable) {
  std::vector<routing::Cable> cables = cables_of(topology);
  std::erase_if(cables, [&](const routing::Cable& each) { return each.name == cable; });
  return with_cables(topology, std::move(cables));
}

// As a page gets it from a node that had `before` and has `after`.
json map_after(const Topology& before, const Topology& after) {
  GoneCables gone;
  gone.learn(before, {}, {});
  gone.learn(after, {}, WallTime(std::chrono::hours(1)));
  return json::parse(map_json(after, "n0", gone.list({})));
}

std::set<std::string> names_of(const json& cables) {
  std::set<std::string> names;
  for (const json& cable : cables) names.insert(cable["cable"].get<std::string>());
  return names;
}

TEST(MapJsonTest, HasAPlaceForEveryNodeAndABendForEveryCable) {
  for (const char* shape : {"line:3", "ring:4", "torus:4x8", "mesh:5", "star:9"}) {
    const auto topology = routing::generate_topology(shape);
    ASSERT_TRUE(topology.ok()) << topology.status();
    const json map = json::parse(map_json(*topology, "n0"));
    ASSERT_EQ(map["nodes"].size(), topology->node_count()) << shape;
    ASSERT_EQ(map["cables"].size(), topology->cable_count()) << shape;
    for (const json& node : map["nodes"]) {
      EXPECT_GE(node["x"], 0) << shape;
      EXPECT_LE(node["x"], map["width"]) << shape;
      EXPECT_LE(node["y"], map["height"]) << shape;
    }
    EXPECT_EQ(map["cables"][0]["a"]["node"], topology->cables()[0].a.node.value);
  }
}

TEST(MapJsonTest, DoesNotDrawATopologyThatIsTooLarge) {
  const auto topology = routing::generate_topology("ring:300");
  ASSERT_TRUE(topology.ok()) << topology.status();
  const json map = json::parse(map_json(*topology, "n0"));
  EXPECT_EQ(map["nodes"], nullptr);
  EXPECT_EQ(map["cables"], nullptr);
  EXPECT_EQ(map["node_count"], 300);
}

TEST(MapJsonTest, DrawsAGoneCableInThePlaceThatItHad) {
  const Topology ring = shaped("ring:4");
  const std::string cut = ring.cables()[1].name;
  const json before = json::parse(map_json(ring, "n0"));
  const json map = map_after(ring, without(ring, cut));
  EXPECT_EQ(map["nodes"], before["nodes"]) << "a ring with a cut cable is drawn as a ring";
  EXPECT_EQ(map["cable_count"], 3);
  EXPECT_EQ(map["cables"].size(), 3U);
  EXPECT_FALSE(names_of(map["cables"]).contains(cut));
  ASSERT_EQ(map["gone"].size(), 1U);
  const json& gone = map["gone"][0];
  EXPECT_EQ(gone["cable"], cut);
  EXPECT_EQ(gone["since"], "1970-01-01T01:00:00.000Z");
  EXPECT_EQ(gone["a"], before["cables"][1]["a"]);
  EXPECT_EQ(gone["b"], before["cables"][1]["b"]);
  EXPECT_EQ(gone["rate_mbps"], before["cables"][1]["rate_mbps"]);
  EXPECT_EQ(gone["bend"], 0);
}

TEST(MapJsonTest, LeavesOutAGoneCableWhoseNodeHasLeft) {
  const Topology line = shaped("line:3");
  EXPECT_EQ(map_after(line, shaped("line:2"))["gone"], json::array());
  EXPECT_EQ(map_after(line, line)["gone"], json::array());
}

// Another cable may have the address and the interface of the one that is gone.
TEST(MapJsonTest, DrawsAGoneCableWhosePortHasAnother) {
  const Topology ring = shaped("ring:4");
  std::vector<routing::Cable> cables = cables_of(ring);
  cables[0].name = "another";
  const json map = map_after(ring, with_cables(ring, std::move(cables)));
  EXPECT_EQ(names_of(map["gone"]), std::set<std::string>{ring.cables()[0].name});
  EXPECT_EQ(map["cables"].size(), 4U);
  EXPECT_NE(map["gone"][0]["bend"], 0) << "beside the other";
}

TEST(MapJsonTest, NamesTheCablesOfEachWire) {
  EXPECT_EQ(json::parse(map_json(shaped("ring:4"), "n0"))["wires"], json::array());
  const Topology twins = shaped("twins:2");
  const json map = json::parse(map_json(twins, "n0"));
  ASSERT_EQ(twins.cable_count(), 2U);
  ASSERT_EQ(map["wires"].size(), 1U);
  EXPECT_EQ(map["wires"][0]["cables"], json({twins.cables()[0].name, twins.cables()[1].name}));
  EXPECT_GT(map["wires"][0]["rate_mbps"], 0);
  EXPECT_NE(map["cables"][0]["bend"], map["cables"][1]["bend"]);
}

TEST(MapJsonTest, AGoneTwinStaysInItsWire) {
  const Topology twins = shaped("twins:2");
  const json before = json::parse(map_json(twins, "n0"));
  const json map = map_after(twins, without(twins, twins.cables()[1].name));
  EXPECT_EQ(map["wires"], before["wires"]);
  EXPECT_EQ(map["gone"][0]["bend"], before["cables"][1]["bend"]);
}

// Two functions of a plug are known by what they hear: the one that is left is a port like any other.
TEST(MapJsonTest, ATwinThatIsLeftStaysInItsWire) {
  const Topology twins = shaped("twins:2");
  const json before = json::parse(map_json(twins, "n0"));
  routing::Cable left = twins.cables()[0];
  left.a.plug = left.b.plug = "";
  const json map = map_after(twins, with_cables(twins, {left}));
  EXPECT_EQ(map["wires"], before["wires"]);
  EXPECT_EQ(map["cables"], json::array({before["cables"][0]}));
  EXPECT_EQ(map["gone"][0]["bend"], before["cables"][1]["bend"]);
}

// They stay in the list, in a place beside the others.
TEST(MapJsonTest, ADrainingCableIsNotGone) {
  const Topology twins = shaped("twins:2");
  std::vector<routing::Cable> cables = cables_of(twins);
  cables[0].draining = true;
  const json map = map_after(twins, with_cables(twins, std::move(cables)));
  EXPECT_EQ(map["gone"], json::array());
  EXPECT_EQ(map["cables"][0]["used"], false);
  EXPECT_EQ(map["cables"][0]["draining"], true);
  EXPECT_EQ(map["cables"][1]["used"], true);
  EXPECT_NE(map["cables"][0]["bend"], map["cables"][1]["bend"]);
}

std::size_t count_of_boxes(const json& map) {
  std::size_t count = 0;
  for (const json& node : map["nodes"]) count += node["switch"].get<bool>() ? 1 : 0;
  return count;
}

TEST(MapJsonTest, ASwitchIsABoxWithItsPorts) {
  const Topology topology = shaped("switch:4");
  const json map = json::parse(map_json(topology, "n0"));
  EXPECT_EQ(map["node_count"], 4);
  EXPECT_EQ(map["cable_count"], 6);
  ASSERT_EQ(map["nodes"].size(), 5U);
  EXPECT_EQ(count_of_boxes(map), 1U);
  EXPECT_EQ(map["cables"], json::array());
  ASSERT_EQ(map["ports"].size(), 4U);
  std::set<std::string> nodes;
  for (const json& port : map["ports"]) {
    const std::size_t box = port["switch"];
    EXPECT_TRUE(map["nodes"][box]["switch"]);
    nodes.insert(map["nodes"][port["node"].get<std::size_t>()]["name"]);
    EXPECT_EQ(port["interfaces"].size(), 1U);
    EXPECT_EQ(port["cables"].size(), 3U);
    EXPECT_EQ(port["others"], 3);
    EXPECT_EQ(port["unused"], 0);
    EXPECT_EQ(port["draining"], false);
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"n0", "n1", "n2", "n3"}));
}

TEST(MapJsonTest, CountsAPortsCablesThatAreNotUsed) {
  const Topology topology = shaped("switch:3");
  std::vector<routing::Cable> cables = cables_of(topology);
  for (routing::Cable& cable : cables) cable.draining = cable.name != cables[2].name;
  const json map = json::parse(map_json(with_cables(topology, std::move(cables)), "n0"));
  ASSERT_EQ(map["ports"].size(), 3U);
  std::multiset<int> unused;
  for (const json& port : map["ports"]) {
    unused.insert(port["unused"].get<int>());
    EXPECT_EQ(port["draining"], port["unused"] == 2);
  }
  EXPECT_EQ(unused, (std::multiset<int>{1, 1, 2}));
}

Topology without_node(const Topology& topology, const std::string& node) {
  std::vector<routing::Cable> cables = cables_of(topology);
  const routing::NodeIndex index = *topology.find_node(node);
  std::erase_if(cables, [&](const routing::Cable& each) { return each.a.node == index || each.b.node == index; });
  return with_cables(topology, std::move(cables));
}

// The name "switch" is in order before or after those of nodes.
TEST(MapJsonTest, APortThatHasLeftASwitchHasOneGoneCableToIt) {
  for (const std::string prefix : {"n", "x"}) {
    Topology topology = shaped("switch:4");
    std::vector<routing::Node> nodes(topology.nodes().begin(), topology.nodes().end());
    for (routing::Node& node : nodes) node.name = prefix + node.name.substr(1);
    topology = *Topology::create(topology.cluster(), nodes, cables_of(topology));
    for (const char* number : {"0", "3"}) {
      const std::string left = prefix + number;
      const json map = map_after(topology, without_node(topology, left));
      EXPECT_EQ(count_of_boxes(map), 1U) << left;
      EXPECT_EQ(map["ports"].size(), 3U) << left;
      ASSERT_EQ(map["gone"].size(), 1U) << left;
      const json& gone = map["gone"][0];
      const bool is_box_a = map["nodes"][gone["a"]["node"].get<std::size_t>()]["switch"];
      const json& end = gone[is_box_a ? "b" : "a"];
      EXPECT_EQ(map["nodes"][end["node"].get<std::size_t>()]["name"], left);
      EXPECT_NE(end["interface"], "");
      EXPECT_EQ(gone[is_box_a ? "a" : "b"]["interface"], "");
    }
  }
}

// One of the cables between two ports that are still there: it is drawn between them, and so are the others.
TEST(MapJsonTest, PortsThatAreNoLongerAllJoinedAreDrawnWithCables) {
  const Topology topology = shaped("switch:4");
  const json map = map_after(topology, without(topology, topology.cables()[0].name));
  EXPECT_EQ(count_of_boxes(map), 0U);
  EXPECT_EQ(map["cables"].size(), 5U);
  EXPECT_EQ(map["gone"].size(), 1U);
  EXPECT_EQ(map["ports"], json::array());
}

// Whatever a hostile node's names and cables are.
TEST(MapJsonTest, IsBounded) {
  const Topology mesh = shaped("mesh:45");
  ASSERT_LE(mesh.cable_count(), kMaxMapCables);
  const json map = map_after(mesh, with_cables(mesh, {}));
  EXPECT_EQ(map["gone"].size(), GoneCables::kMost);
  EXPECT_EQ(map["cables"], json::array());
  EXPECT_LT(map.dump().size(), 1U << 20);
}

}  // namespace
}  // namespace cableway
