#include "routing/topology_io/graphml_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "routing/shapes/topology_generator.h"
#include "routing/topology_io/graph_sketch.h"
#include "routing/topology_io/topology_file.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::StartsWith;

Topology read_graphml(const std::string& text) {
  const absl::StatusOr<Topology> topology = parse_graphml_topology(text, "t.graphml");
  if (!topology.ok()) {
    ADD_FAILURE() << topology.status() << "\n" << text;
    return sample_topology(1, {});
  }
  return *topology;
}

constexpr char kGraphmlFile[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="rate_mbps" attr.type="int"><default> 10000 </default></key>
  <key id="d1" for="edge" attr.name="latency_us" attr.type="double"/>
  <key id="d2" for="all" attr.name="name" attr.type="string"/>
  <key id="d3" for="node" attr.name="draining" attr.type="boolean"/>
  <key id="d4" for="node" yfiles.type="nodegraphics"/>
  <graph id="lab" edgedefault="undirected">
    <edge id="e0" source="n0" target="1::2">
      <data key="d1">2.5</data>
      <data key="d2">c0</data>
      <data key="d0">200000.0</data>
    </edge>
    <node id="n0"><data key="d3">True</data><port name="p"/></node>
    <node id="1::2">
      <data key="d2"> spark-1 </data>
      <data key="d4"><drawn x="1"/></data>
    </node>
    <node id="n2"/>
    <edge source="n2" target="n0" directed="true"/>
  </graph>
</graphml>
)";

TEST(GraphmlTopology, ReadsNodesEdgesAndKeys) {
  const Topology topology = read_graphml(kGraphmlFile);
  EXPECT_EQ(topology.cluster(), "lab");
  ASSERT_EQ(topology.node_count(), 3U);
  EXPECT_EQ(topology.node(NodeIndex{0}), (Node{"n0", 7470, true}));
  EXPECT_EQ(topology.node(NodeIndex{1}), (Node{"n2", 7470}));
  EXPECT_EQ(topology.node(NodeIndex{2}), (Node{"spark-1", 7470}));
  ASSERT_EQ(topology.cable_count(), 2U);
  EXPECT_EQ(topology.cable(CableIndex{0}),
            (Cable{"n2-n0", {NodeIndex{0}, "to-n2", "10.7.1.2"}, {NodeIndex{1}, "to-n0", "10.7.1.1"}}));
  EXPECT_EQ(topology.cable(CableIndex{1}),
            (Cable{"c0", {NodeIndex{0}, "to-spark-1", "10.7.0.1"}, {NodeIndex{2}, "to-n0", "10.7.0.2"}, 200'000, 2.5}));
}

TEST(GraphmlTopology, ReadsPortsAndEntitiesAndCdata) {
  const Topology topology = read_graphml(
      "<graphml><key id='i' for='edge' attr.name='from_interface'/><key id='fa' attr.name='from_address'/>"
      "<key id='ta' attr.name='to_address'/><key id='r' for='edge' attr.name='routed'/>"
      "<graph><node id='&#97;'/><node id='b'/><edge source='a' target='b'><data key='i'><![CDATA[eth0]]></data>"
      "<data key='fa'>fe80::1%eth&#48;</data><data key='ta'>fd00::2</data><data key='r'>true</data></edge></graph>"
      "</graphml>");
  EXPECT_EQ(topology.cable(CableIndex{0}), (Cable{"a-b",
                                                  {NodeIndex{0}, "eth0", "fe80::1%eth0"},
                                                  {NodeIndex{1}, "", "fd00::2"},
                                                  kDefaultRateMbps,
                                                  std::nullopt,
                                                  true}));
}

TEST(GraphmlTopology, ReadsPlugsAndRoots) {
  const Topology topology = read_graphml(
      "<graphml><key id='p' for='node' attr.name='plugs'/><key id='r' for='node' attr.name='roots'/>"
      "<key id='fr' for='edge' attr.name='from_root'/><key id='tp' for='edge' attr.name='to_plug'/>"
      "<graph><node id='a'><data key='p'>p1=200000\np0=100000</data><data key='r'> r0=98300 </data></node>"
      "<node id='b'/><edge source='a' target='b'><data key='fr'>r0</data><data key='tp'>p7</data></edge></graph>"
      "</graphml>");
  EXPECT_EQ(topology.node(NodeIndex{0}),
            (Node{"a", 7470, false, {{"p0", 100'000}, {"p1", 200'000}}, {{"r0", 98'300}}}));
  ASSERT_EQ(topology.cable_count(), 1U);
  EXPECT_EQ(topology.cable(CableIndex{0}).a.root, "r0");
  EXPECT_EQ(topology.cable(CableIndex{0}).b.plug, "p7");
}

TEST(GraphmlTopology, RefusesACableFasterThanItsPlugOrRoot) {
  const auto error = [](const char* part, const char* of_node, const char* rate) {
    const auto topology = parse_graphml_topology(
        absl::StrCat("<graphml><key id='p' for='node' attr.name='", part,
                     "s'/><key id='fp' for='edge' attr.name='from_", part,
                     "'/><key id='m' for='edge' attr.name='rate_mbps'/><graph><node id='a'><data key='p'>", of_node,
                     "</data></node><node id='b'/><edge source='a' target='b'><data key='fp'>x0</data>\n",
                     "<data key='m'>", rate, "</data></edge></graph></graphml>"),
        "t.graphml");
    return std::string(topology.status().message());
  };
  for (const std::string part : {"plug", "root"}) {
    EXPECT_EQ(error(part.c_str(), "x0=5000", "5001"),
              absl::StrCat("t.graphml:2: rate_mbps of cable \"a-b\" is 5001; expected at most 5000, the rate of ", part,
                           " \"x0\" of node \"a\""));
    EXPECT_EQ(error(part.c_str(), "x0=5000", "5000"), "") << "just as much";
    EXPECT_EQ(error(part.c_str(), "x1=5000", "5001"), "") << "not listed";
  }
}

TEST(GraphmlTopology, KeysOfEdgesDoNotApplyToNodes) {
  const Topology topology = read_graphml(
      "<graphml><key id='d' for='edge' attr.name='name'/><key id='g' for='graph' attr.name='name'><default>no"
      "</default></key><graph><node id='a'><data key='d'>x</data><data key='g'>y</data></node></graph></graphml>");
  EXPECT_EQ(topology.node(NodeIndex{0}).name, "a");
}

TEST(GraphmlTopology, MakesASketchTheSameTopologyAsItsSpec) {
  std::string text = "<graphml><key id=\"k\" attr.name=\"label\"/><graph id=\"cableway\">";
  for (int i = 0; i < 8; ++i) absl::StrAppend(&text, "<node id=\"n", i, "\"/>");
  for (int i = 0; i < 8; ++i) {
    absl::StrAppend(&text, "<edge source=\"n", i, "\" target=\"n", (i + 1) % 8, "\"><data key=\"k\">c", i,
                    "</data></edge>");
  }
  EXPECT_EQ(read_graphml(text + "</graph></graphml>"), *generate_topology("ring:8"));
}

TEST(GraphmlTopology, AcceptsADisconnectedTopologyOnlyOnRequest) {
  const std::string text = "<graphml><graph><node id='a'/><node id='b'/></graph></graphml>";
  EXPECT_TRUE(parse_graphml_topology(text, "t", Disconnected::kAccepted).ok());
  EXPECT_FALSE(parse_graphml_topology(text, "t", Disconnected::kRefused).ok());
}

struct BadGraphml {
  const char* name;
  const char* from;  // the part of kGraphmlFile to replace
  const char* to;
  const char* error;
};

std::ostream& operator<<(std::ostream& out, const BadGraphml& param) {
  return out << param.name;
}

class BadGraphmlTest : public ::testing::TestWithParam<BadGraphml> {};

TEST_P(BadGraphmlTest, IsRefusedWithFileAndLine) {
  const std::string text = absl::StrReplaceAll(kGraphmlFile, {{GetParam().from, GetParam().to}});
  ASSERT_NE(text, kGraphmlFile);
  const absl::StatusOr<Topology> topology = parse_graphml_topology(text, "t.graphml");
  ASSERT_FALSE(topology.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(topology.status()));
  EXPECT_EQ(std::string(topology.status().message()), absl::StrCat("t.graphml:", GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    GraphmlTopology, BadGraphmlTest,
    ::testing::Values(
        BadGraphml{"Unclosed", "<node id=\"n2\"/>", "<node id=\"n2\">",
                   "21: syntax error: Start-end tags mismatch; expected GraphML: <graphml> .. </graphml>"},
        BadGraphml{"Attribute", "source=\"n2\"", "source=n2",
                   "20: syntax error: Error parsing element attribute; expected GraphML: <graphml> .. </graphml>"},
        BadGraphml{"OtherRoot", "graphml", "svg",
                   "2: the document is \"svg\"; expected GraphML: <graphml> .. </graphml>"},
        BadGraphml{"NoGraph", "graph ", "grahp ",
                   "21: syntax error: Start-end tags mismatch; expected GraphML: <graphml> .. "
                   "</graphml>"},
        BadGraphml{"TwoGraphs", "</graph>", "</graph>\n<graph/>", "22: a second <graph>; expected one"},
        BadGraphml{"NestedGraph", "<node id=\"n2\"/>", "<node id=\"n2\"><graph/></node>",
                   "19: node \"n2\" holds a graph; expected nodes and edges in one graph"},
        BadGraphml{"Hyperedge", "<node id=\"n2\"/>", "<node id=\"n2\"/><hyperedge/>",
                   "19: a <hyperedge>; expected every <edge> to have two ends"},
        BadGraphml{"KeyId", "id=\"d1\"", "name=\"d1\"", "4: a <key> has no id; expected id=\"..\""},
        BadGraphml{"KeyTwice", "id=\"d1\"", "id=\"d0\"",
                   "4: key \"d0\" is defined twice; expected every key to have its own id"},
        BadGraphml{"UnknownKey", "key=\"d1\"", "key=\"d9\"",
                   "10: <data> has the key \"d9\"; expected the id of a <key>"},
        BadGraphml{"NodeId", "<node id=\"n2\"/>", "<node/>", "19: a <node> has no id; expected id=\"..\""},
        BadGraphml{"NodeTwice", "<node id=\"n2\"/>", "<node id=\"n0\"/>",
                   "19: node \"n0\" is defined twice; expected every node to have its own id"},
        BadGraphml{"NodeName", "<node id=\"n2\"/>",
                   "<node id=\"n 2\"/><edge source=\"n0\" target=\"n 2\"/><node id=\"n2\"/>",
                   "19: node name \"n 2\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ -"},
        BadGraphml{"NodeNameData", "spark-1", "spark/1",
                   "16: node name \"spark/1\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ -"},
        BadGraphml{"NoSource", "source=\"n2\"", "", "20: an <edge> has no source; expected the id of a <node>"},
        BadGraphml{"NoTarget", "target=\"n0\"", "", "20: an <edge> has no target; expected the id of a <node>"},
        BadGraphml{"UnknownTarget", "target=\"n0\"", "target=\"n9\"",
                   "20: an <edge> has the target \"n9\", which is not a node; expected the id of a <node>"},
        BadGraphml{"SelfCable", "target=\"n0\"", "target=\"n2\"",
                   "20: cable \"n2-n2\" joins node \"n2\" to itself; expected two different nodes"},
        BadGraphml{"Rate", "200000.0", "fast", "12: rate_mbps is \"fast\"; expected a whole number, 1 to 10000000"},
        BadGraphml{"DefaultRate", " 10000 ", "0", "3: rate_mbps is \"0\"; expected a whole number, 1 to 10000000"},
        BadGraphml{"Latency", "2.5", "2.5us", "10: latency_us is \"2.5us\"; expected microseconds, such as 1.5"},
        BadGraphml{"Draining", "True", "yes", "14: draining is \"yes\"; expected true or false"},
        BadGraphml{"CableName", ">c0<", ">c 0<",
                   "11: cable name \"c 0\" is not valid; expected 1 to 160 characters of A-Z a-z 0-9 . _ -"},
        BadGraphml{
            "Disconnected", "<edge source=\"n2\" target=\"n0\" directed=\"true\"/>", "",
            "19: the topology is disconnected: n0,spark-1 cannot reach n2 (n0-n2, spark-1-n2); expected cables that "
            "join all nodes"}),
    [](const ::testing::TestParamInfo<BadGraphml>& file) { return std::string(file.param.name); });

std::string graphml_error(const std::string& text) {
  const absl::StatusOr<Topology> topology = parse_graphml_topology(text, "t");
  EXPECT_FALSE(topology.ok());
  return std::string(topology.status().message());
}

TEST(GraphmlTopology, RefusesOtherXml) {
  for (const char* text : {"", "graph {}", "<", "<!-- x", "\xff\xfe<\x00", "<graphml", "<?xml"}) {
    EXPECT_THAT(graphml_error(text), StartsWith("t:1: syntax error: ")) << text;
    EXPECT_THAT(graphml_error(text), ::testing::EndsWith("; expected GraphML: <graphml> .. </graphml>")) << text;
  }
  EXPECT_EQ(graphml_error("\n<graphml/>"), "t:2: there is no <graph>; expected one");
  EXPECT_EQ(graphml_error("<graphml><graph/></graphml>"), "t:1: there are no nodes; expected at least one");
}

TEST(GraphmlTopology, RefusesASecondRootAndTextBesideTheRoot) {
  const std::string good = "<?xml version=\"1.0\"?>\n<!-- x --><graphml><graph><node id=\"a\"/></graph></graphml>\n";
  EXPECT_TRUE(parse_graphml_topology(good + "<!-- y -->\n", "t").ok());
  EXPECT_EQ(graphml_error(good + "<graphml/>"),
            "t:3: a second root element, \"graphml\"; expected one <graphml> .. </graphml>");
  EXPECT_EQ(graphml_error(good + "\n<x>y</x>"),
            "t:4: a second root element, \"x\"; expected one <graphml> .. </graphml>");
  EXPECT_EQ(graphml_error("<a/>\n" + good.substr(good.find('\n'))),
            "t:1: the document is \"a\"; expected GraphML: <graphml> .. </graphml>");
  EXPECT_EQ(graphml_error(good + "more"),
            "t:3: text outside <graphml>: \"more\"; expected one <graphml> .. </graphml>");
  EXPECT_EQ(graphml_error("more" + good),
            "t:1: text outside <graphml>: \"more\"; expected one <graphml> .. </graphml>");
}

TEST(GraphmlTopology, RefusesNulsThatWouldCutAName) {
  const auto with_id = [](const std::string& id) {
    return "<graphml><graph>\n<node id=\"" + id + "\"/></graph></graphml>";
  };
  constexpr char kRefused[] = "t:2: a reference to no character; expected text without NUL, and characters of Unicode";
  for (const char* nul : {"&#0;", "&#00;", "&#x0;", "&#x000;", "&#4294967296;", "&#x100000000;", "&#x110000;"}) {
    EXPECT_EQ(graphml_error(with_id("n0" + std::string(nul) + "x")), kRefused) << nul;
  }
  EXPECT_EQ(graphml_error(with_id(std::string("n0\0x", 4))),
            "t:2: a NUL byte; expected text without NUL, and characters of Unicode");
  EXPECT_EQ(graphml_error(with_id("n0") + std::string(1, '\0') + "<graphml/>"),
            "t:2: a NUL byte; expected text without NUL, and characters of Unicode");
  const absl::StatusOr<Topology> topology = parse_graphml_topology(with_id("&#110;&#x30;"), "t");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->nodes()[0].name, "n0");
  EXPECT_THAT(graphml_error(with_id("&#;&x;&")), StartsWith("t:2: node name \"&#;&x;&\" is not valid; "));
}

TEST(GraphmlTopology, DoesNotResolveEntitiesDefinedInTheFile) {
  const std::string text =
      "<!DOCTYPE graphml [<!ENTITY a \"n0\"><!ENTITY b SYSTEM \"file:///etc/hostname\">]>\n"
      "<graphml><graph><node id=\"x&a;&b;\"/></graph></graphml>";
  EXPECT_THAT(graphml_error(text), StartsWith("t:2: node name \"x&a;&b;\" is not valid; "));
}

TEST(GraphmlTopology, BoundsItsInput) {
  EXPECT_THAT(graphml_error(std::string(kMaxTopologyFileBytes + 1, '\n')),
              StartsWith("t:1: the file has 33554433 bytes; "));
  std::string nodes = "<graphml><graph>";
  for (std::size_t i = 0; i <= kMaxNodes; ++i) absl::StrAppend(&nodes, "\n<node id='n", i, "'/>");
  EXPECT_EQ(graphml_error(nodes + "</graph></graphml>"), "t:4098: too many nodes; expected at most 4096");
  std::string edges = "<graphml><graph><node id='a'/><node id='b'/>";
  for (std::size_t i = 0; i <= kMaxCables; ++i) edges += "\n<edge source='a' target='b'/>";
  EXPECT_EQ(graphml_error(edges + "</graph></graphml>"), "t:65538: too many cables; expected at most 65536");
  EXPECT_EQ(graphml_error("<graphml><key id='k' attr.name='name'/><graph><node id='a'><data key='k'>" +
                          std::string(kMaxSketchTextBytes + 1, 'x') + "</data></node></graph></graphml>"),
            "t:1: name has 8193 bytes; expected at most 8192");
}

TEST(GraphmlTopology, DeepNestingDoesNotExhaustTheStack) {
  std::string text = "<graphml><graph><node id='a'/></graph>";
  for (int i = 0; i < 1'000'000; ++i) text += "<a>";
  for (int i = 0; i < 1'000'000; ++i) text += "</a>";
  EXPECT_EQ(read_graphml(text + "</graphml>").node_count(), 1U);
}

}  // namespace
}  // namespace cableway::routing
