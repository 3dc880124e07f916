#include "routing/topology_io/dot_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "routing/shapes/topology_generator.h"
#include "routing/topology_io/graph_sketch.h"
#include "routing/topology_io/topology_file.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Topology read_dot(const std::string& text) {
  const absl::StatusOr<Topology> topology = parse_dot_topology(text, "t.dot");
  if (!topology.ok()) {
    ADD_FAILURE() << topology.status() << "\n" << text;
    return sample_topology(1, {});
  }
  return *topology;
}

const Cable& cable_named(const Topology& topology, const std::string& name) {
  const std::optional<CableIndex> cable = topology.find_cable(name);
  if (!cable) {
    ADD_FAILURE() << "no cable " << name << " in\n" << to_topology_file(topology);
    return topology.cables().front();
  }
  return topology.cable(*cable);
}

TEST(DotTopology, ReadsASketch) {
  const Topology topology = read_dot("graph lab { n0 -- n1 -- n2 -- n0 }");
  EXPECT_EQ(topology.cluster(), "lab");
  ASSERT_EQ(topology.node_count(), 3U);
  EXPECT_EQ(topology.node(NodeIndex{0}), (Node{"n0", 7470}));
  ASSERT_EQ(topology.cable_count(), 3U);
  EXPECT_EQ(cable_named(topology, "n0-n1"),
            (Cable{"n0-n1", {NodeIndex{0}, "to-n1", "10.7.0.1"}, {NodeIndex{1}, "to-n0", "10.7.0.2"}}));
  EXPECT_EQ(cable_named(topology, "n2-n0").b, (Port{NodeIndex{2}, "to-n0", "10.7.2.1", ""}));
}

TEST(DotTopology, LeavesOutWhatIsOnlyExpected) {
  const Topology topology = read_dot(R"(graph {
    n0 -- n1 [name=c0]; n0 -- n1 [only_expected=true, label=missing]; n1 -- n2; n2 -- n3 [name=c1, only_expected=false];
    n2 [only_expected=true]; n1 -- n3 [name=c2];
  })");
  EXPECT_EQ(topology.node_count(), 3U);
  ASSERT_EQ(topology.cable_count(), 2U);
  EXPECT_EQ(topology.node(cable_named(topology, "c2").b.node).name, "n3");
  EXPECT_THAT(std::string(parse_dot_topology("graph { n0 -- n1 [only_expected=maybe] }", "t").status().message()),
              HasSubstr("expected true or false"));
}

TEST(DotTopology, ReadsEveryAttribute) {
  const Topology topology = read_dot(R"(graph {
    a [relay_port=7471, draining=true, plugs="0000:01:00=200000", roots="r1=98300  r0=49100 "];
    b [name="spark-1" label=other];
    a -- b [name=c0, rate_mbps=98300, latency_us="2.5", routed=true,
            from_interface="eth0.7", from_address="10.1.0.1", from_plug="0000:01:00", from_root=r1,
            to_interface=eth1, to_address="10.1.0.2", to_plug=p1, to_root="r0"];
  })");
  EXPECT_EQ(topology.cluster(), "cableway");
  EXPECT_EQ(topology.node(NodeIndex{0}),
            (Node{"a", 7471, true, {{"0000:01:00", 200'000}}, {{"r0", 49'100}, {"r1", 98'300}}}));
  EXPECT_EQ(topology.node(NodeIndex{1}), (Node{"spark-1", 7470}));
  EXPECT_EQ(topology.cable(CableIndex{0}), (Cable{"c0",
                                                  {NodeIndex{0}, "eth0.7", "10.1.0.1", "0000:01:00", "r1"},
                                                  {NodeIndex{1}, "eth1", "10.1.0.2", "p1", "r0"},
                                                  98'300,
                                                  2.5,
                                                  true}));
}

TEST(DotTopology, ReadsTheWholeSyntax) {
  // Comments, keywords in any case, statements with and without semicolons, ports, graph attributes, HTML, joined and
  // continued quotes, numeric and non-ASCII names where they are ignored.
  const Topology topology = read_dot(
      "\xef\xbb\xbf# made by hand\n"
      "Graph \"my lab\" { // not a valid cluster name\n"
      "  rankdir=LR; bgcolor=<<b>x</b>>\n"
      "  graph [label=\"K\xc3\xb6ln\"] NODE [shape=box;color=red,]\n"
      "  7:e--8.5:p:nw[label=<a <i>b</i>>][penwidth=3.][x=-.5]/* -- 9 */\n"
      "  \"n-\" + \"a\" -- \"n\\\n-b\" -- 7;;\n"
      "}\n# the end");
  ASSERT_EQ(topology.node_count(), 4U);
  EXPECT_EQ(topology.cluster(), "cableway");
  EXPECT_EQ(topology.node(NodeIndex{0}).name, "7");
  EXPECT_EQ(topology.node(NodeIndex{1}).name, "8.5");
  EXPECT_EQ(topology.node(NodeIndex{2}).name, "n-a");
  EXPECT_EQ(topology.node(NodeIndex{3}).name, "n-b");
  EXPECT_EQ(topology.cable_count(), 3U);
}

TEST(DotTopology, DefaultsApplyToWhatFollowsInTheirSubgraph) {
  const Topology topology = read_dot(R"(graph {
    a -- b
    edge [rate_mbps=100000] node [relay_port=1]
    subgraph cluster_rack { edge [latency_us=5]; node [relay_port=2]; b -- c [rate_mbps=1]; { c -- d } }
    d -- e
    e [relay_port=3]
  })");
  EXPECT_EQ(cable_named(topology, "a-b").rate_mbps, kDefaultRateMbps);
  EXPECT_EQ(cable_named(topology, "b-c").rate_mbps, 1U);
  EXPECT_EQ(cable_named(topology, "b-c").latency_us, 5);
  EXPECT_EQ(cable_named(topology, "c-d").rate_mbps, 100'000U);
  EXPECT_EQ(cable_named(topology, "c-d").latency_us, 5);
  EXPECT_EQ(cable_named(topology, "d-e").rate_mbps, 100'000U);
  EXPECT_EQ(cable_named(topology, "d-e").latency_us, std::nullopt);
  std::vector<std::uint16_t> ports;
  for (const Node& node : topology.nodes()) ports.push_back(node.relay_port);
  EXPECT_THAT(ports, ::testing::ElementsAre(7470, 7470, 2, 2, 3));
}

TEST(DotTopology, ParallelEdgesAreCablesButNotInAStrictGraph) {
  EXPECT_EQ(read_dot("graph { a -- b; a -- b; b -- a }").cable_count(), 3U);
  EXPECT_EQ(read_dot("digraph { a -> b; b -> a }").cable_count(), 2U);
  const Topology strict = read_dot(R"(strict digraph { edge [rate_mbps=5]
    a -> b [from_address="10.0.0.1", to_address="10.0.0.2", name=x]
    edge [rate_mbps=6]
    b -> a [from_interface=eth0, latency_us=9, from_root=r0] })");
  ASSERT_EQ(strict.cable_count(), 1U);
  EXPECT_EQ(strict.cable(CableIndex{0}),
            (Cable{"x", {NodeIndex{0}, "", "10.0.0.1"}, {NodeIndex{1}, "eth0", "10.0.0.2", "", "r0"}, 5, 9}));
}

TEST(DotTopology, UsesValidUniqueLabelsAsNames) {
  const Topology topology = read_dot(R"(graph {
    1 [label="spark-1"]; 2 [label="has a space"]; 3 [label=same]; 4 [label=same]; 5 [label=2]; 6 [label="x" name=y]
    1 -- 2 [label=c0]; 2 -- 3 [label="10G"]; 3 -- 4 [label="10G"]; 4 -- 5 -- 6
  })");
  std::vector<std::string> names;
  for (const Node& node : topology.nodes()) names.push_back(node.name);
  EXPECT_THAT(names, ::testing::ElementsAre("2", "3", "4", "5", "spark-1", "y"));
  EXPECT_TRUE(topology.find_cable("c0"));
  EXPECT_TRUE(topology.find_cable("2-3"));
  EXPECT_TRUE(topology.find_cable("3-4"));
}

TEST(DotTopology, MakesASketchTheSameTopologyAsItsSpec) {
  std::string text = "graph cableway {\n";
  for (int i = 0; i < 8; ++i) absl::StrAppend(&text, "n", i, " -- n", (i + 1) % 8, " [name=c", i, "]\n");
  EXPECT_EQ(read_dot(text + "}"), *generate_topology("ring:8"));
}

TEST(DotTopology, NumbersParallelCablesAndTheirInterfaces) {
  const Topology topology = read_dot(
      "graph { a -- b; a -- b [from_interface=\"to-b-2\"]; a -- b;"
      " a -- \"a-name-that-is-too-long-for-an-interface\" }");
  EXPECT_EQ(cable_named(topology, "a-b").a.interface, "to-b");
  EXPECT_EQ(cable_named(topology, "a-b-2").a.interface, "to-b-2");
  EXPECT_EQ(cable_named(topology, "a-b-3").a.interface, "to-b-3");
  EXPECT_EQ(cable_named(topology, "a-b-3").b.interface, "to-a-3");
  EXPECT_EQ(cable_named(topology, "a-a-name-that-is-too-long-for-an-interface").a.interface, "cable3");
}

TEST(DotTopology, AcceptsADisconnectedTopologyOnlyOnRequest) {
  EXPECT_TRUE(parse_dot_topology("graph { a; b }", "t", Disconnected::kAccepted).ok());
  EXPECT_FALSE(parse_dot_topology("graph { a; b }", "t", Disconnected::kRefused).ok());
}

struct BadDot {
  const char* name;
  const char* text;
  const char* error;
};

std::ostream& operator<<(std::ostream& out, const BadDot& param) {
  return out << param.name;
}

class BadDotTest : public ::testing::TestWithParam<BadDot> {};

TEST_P(BadDotTest, IsRefusedWithFileAndLine) {
  const absl::StatusOr<Topology> topology = parse_dot_topology(GetParam().text, "t.dot");
  ASSERT_FALSE(topology.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(topology.status()));
  EXPECT_EQ(std::string(topology.status().message()), absl::StrCat("t.dot:", GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    DotTopology, BadDotTest,
    ::testing::Values(
        BadDot{"Nothing", "",
               "1: syntax error: found the end of the file; expected a Graphviz graph: graph NAME { .. }"},
        BadDot{"NoGraph", "\nflowchart {}",
               "2: syntax error: found \"flowchart\"; expected a Graphviz graph: graph NAME { .. }"},
        BadDot{"QuotedKeyword", "\"graph\" {}",
               "1: syntax error: found \"graph\"; expected a Graphviz graph: graph NAME { .. }"},
        BadDot{"NoBrace", "graph x\n[", "2: syntax error: found \"[\"; expected { after the graph's name"},
        BadDot{"NoEnd", "graph {\n a\n", "3: syntax error: found the end of the file; expected a node, an edge or }"},
        BadDot{"TwoGraphs", "graph { a }\ngraph { b }",
               "2: syntax error: found \"graph\"; expected one graph, and nothing after it"},
        BadDot{"Empty", "graph {}", "1: there are no nodes; expected at least one"},
        BadDot{"Arrow", "graph {\n a -> b }", "2: syntax error: found \"->\"; expected -- in a graph"},
        BadDot{"NoArrow", "digraph {\n a -- b }", "2: syntax error: found \"--\"; expected -> in a digraph"},
        BadDot{"NoEdgeEnd", "graph { a --\n}", "2: syntax error: found \"}\"; expected a node at the end of the edge"},
        BadDot{"KeywordNode", "graph { a -- node }",
               "1: syntax error: found \"node\"; expected a node at the end of the edge (a keyword only in quotes)"},
        BadDot{"KeywordStatement", "graph { strict -- a }",
               "1: syntax error: found \"strict\"; expected a node, an edge or } (a keyword only in quotes)"},
        BadDot{"HtmlNode", "graph { <a> }", "1: syntax error: found an HTML string; expected a node, an edge or }"},
        BadDot{"FromSubgraph", "graph { { a b }\n-- c }",
               "2: an edge begins at a subgraph; expected a node at both ends of an edge"},
        BadDot{"ToSubgraph", "graph { a -- { b c } }",
               "1: an edge ends at a subgraph; expected a node at both ends of an edge"},
        BadDot{"ToNamedSubgraph", "graph { a -- subgraph x { b c } }",
               "1: an edge ends at a subgraph; expected a node at both ends of an edge"},
        BadDot{"SubgraphBrace", "graph { subgraph x a }", "1: syntax error: found \"a\"; expected { after subgraph"},
        BadDot{"NoPort", "graph { a: -- b }", "1: syntax error: found \"--\"; expected a port after :"},
        BadDot{"NodeDefaults", "graph { node a }",
               "1: syntax error: found \"a\"; expected [ and attributes after graph, node or edge"},
        BadDot{"AttributeName", "graph { a [=3] }",
               "1: syntax error: found \"=\"; expected NAME=VALUE, or ] after the attributes"},
        BadDot{"AttributeEquals", "graph { a [x 3] }",
               "1: syntax error: found \"3\"; expected = after an attribute's name"},
        BadDot{"AttributeValue", "graph { a [x=] }", "1: syntax error: found \"]\"; expected an attribute's value"},
        BadDot{"GraphAttributeValue", "graph { x=; }", "1: syntax error: found \";\"; expected an attribute's value"},
        BadDot{"AttributesEnd", "graph { a [x=3 ",
               "1: syntax error: found the end of the file; expected NAME=VALUE, or ] after the attributes"},
        BadDot{"CommentEnd", "graph {\n/* a\n}", "2: syntax error: unterminated comment; expected */"},
        BadDot{"QuoteEnd", "graph {\n \"a\n}", "2: syntax error: unterminated quoted text; expected \""},
        BadDot{"HtmlEnd", "graph {\n a [label=<<b>]\n}",
               "2: syntax error: unterminated text in angle brackets; expected >"},
        BadDot{"JoinedQuotes", "graph { \"a\" + b }",
               "1: syntax error: no quoted text after a +; expected text in quotes"},
        BadDot{
            "Address", "graph { a [x=10.7.0.1] }",
            "1: syntax error: \"10.7.\" is not a name; expected quotes around one that begins with a digit or has more "
            "than letters, digits and _"},
        BadDot{"DigitsFirst", "graph { 7a -- b }",
               "1: syntax error: \"7a\" is not a name; expected quotes around one that begins with a digit or has more "
               "than letters, digits and _"},
        BadDot{
            "Dash", "graph { n-0 }",
            "1: syntax error: \"n-0\" is not a name; expected quotes around one that begins with a digit or has more "
            "than letters, digits and _"},
        BadDot{"Sign", "graph { a & b }",
               "1: syntax error: \"&\" is not a name; expected quotes around one that begins with a digit or has more "
               "than letters, digits and _"},
        BadDot{"NodeName", "graph {\n \"a b\" }",
               "2: node name \"a b\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ -"},
        BadDot{"NodeNameIsAnOption", "graph {\n \"-rf\" }",
               "2: node name \"-rf\" begins with \"-\"; expected a letter, a digit or _ first"},
        BadDot{"NodeNameIsAFolder", "graph {\n \"..\" }",
               "2: node name \"..\" begins with \".\"; expected a letter, a digit or _ first"},
        BadDot{"CableNameIsAnOption", "graph { a -- b\n [name=\"-x\"] }",
               "2: cable name \"-x\" begins with \"-\"; expected a letter, a digit or _ first"},
        BadDot{"InterfaceIsAnOption", "graph { a -- b [\nto_interface=\"-x\"] }",
               "2: interface \"-x\" of node \"b\" is not valid; expected the name of a network interface, at most 15 "
               "characters, the first not -"},
        BadDot{"NodeNameAttribute", "graph { a\n a [\nname=\"a b\"] }",
               "3: node name \"a b\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ -"},
        BadDot{"NodeNameTwice", "graph { a -- b\n b [name=a] }",
               "2: node name \"a\" is used twice; expected every node to have its own name"},
        BadDot{"CableNameTwice", "graph { a -- b\n -- c [name=x] }",
               "2: cable name \"x\" is used twice; expected every cable to have its own name"},
        BadDot{"SelfCable", "graph {\n a -- a }",
               "2: cable \"a-a\" joins node \"a\" to itself; expected two different nodes"},
        BadDot{"RelayPort", "graph {\n a [relay_port=65536] }",
               "2: relay_port is \"65536\"; expected a whole number, 1 to 65535"},
        BadDot{"Plugs", "graph { a [\nplugs=p0] }",
               "2: plugs is \"p0\"; expected at most 64 of NAME=RATE_MBPS, such as \"p0=200000\""},
        BadDot{"Roots", "graph { a [\nroots=\"r0=1 r1=fast\"] }",
               "2: roots is \"r0=1 r1=fast\"; expected at most 64 of NAME=RATE_MBPS, such as \"p0=200000\""},
        BadDot{"PlugRate", "graph { a [\nplugs=\"p0=0\"] }",
               "2: rate_mbps of plug \"p0\" of node \"a\" is 0; expected 1 to 10000000"},
        BadDot{"RootTwice", "graph { a [plugs=\"r0=1\",\nroots=\"r0=1 r0=2\"] }",
               "2: root \"r0\" of node \"a\" is listed twice; expected each root once"},
        BadDot{"Root", "graph { a -- b [\nto_root=\"r/0\"] }",
               "2: root \"r/0\" of node \"b\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ : -"},
        BadDot{"Draining", "graph { a [\ndraining=1] }", "2: draining is \"1\"; expected true or false"},
        BadDot{"Routed", "graph { a -- b [\nrouted=yes] }", "2: routed is \"yes\"; expected true or false"},
        BadDot{"Rate", "graph { a -- b [\nrate_mbps=0] }",
               "2: rate_mbps is \"0\"; expected a whole number, 1 to 10000000"},
        BadDot{"RateAboveRoot", "graph { a [roots=\"r0=5000\"] a -- b [from_root=r0,\nrate_mbps=5001] }",
               "2: rate_mbps of cable \"a-b\" is 5001; expected at most 5000, the rate of root \"r0\" of node \"a\""},
        BadDot{"RateAbovePlug", "graph { b [plugs=\"p0=5000\"] a -- b [to_plug=p0,\nrate_mbps=5001] }",
               "2: rate_mbps of cable \"a-b\" is 5001; expected at most 5000, the rate of plug \"p0\" of node \"b\""},
        BadDot{"RateText", "graph { edge [\nrate_mbps=\"100G\"] a -- b }",
               "2: rate_mbps is \"100G\"; expected a whole number, 1 to 10000000"},
        BadDot{"RateFraction", "graph { a -- b [rate_mbps=1.5] }",
               "1: rate_mbps is \"1.5\"; expected a whole number, 1 to 10000000"},
        BadDot{"Latency", "graph { a -- b [latency_us=inf] }",
               "1: latency_us is \"inf\"; expected microseconds, such as 1.5"},
        BadDot{"LatencyTooLong", "graph { a -- b [\nlatency_us=2000000] }",
               "2: latency_us of cable \"a-b\" is 2e+06; expected 0 to 1e+06"},
        BadDot{"Interface", "graph { a -- b [\nto_interface=\"a/b\"] }",
               "2: interface \"a/b\" of node \"b\" is not valid; expected the name of a network interface, at most 15 "
               "characters, the first not -"},
        BadDot{"OneAddress", "graph { a -- b\n[from_address=\"10.0.0.1\"] }",
               "1: cable \"a-b\" has no address at node \"b\", yet the graph gives addresses; expected them at both "
               "ends of "
               "every cable, or nowhere"},
        BadDot{"SomeAddresses", "graph { a -- b [from_address=\"10.0.0.1\", to_address=\"10.0.0.2\"]\n b -- c }",
               "2: cable \"b-c\" has no address at node \"b\", yet the graph gives addresses; expected them at both "
               "ends of "
               "every cable, or nowhere"},
        BadDot{
            "AddressTwice", "graph { a -- b [from_address=\"10.0.0.1\",\nto_address=\"10.0.0.1\"] }",
            "2: address \"10.0.0.1\" of node \"b\" is already used by node \"a\" on cable \"a-b\"; expected the ports "
            "of a node and of its neighbours to have addresses of their own (a port of several cables, as on a switch, "
            "names its interface)"},
        BadDot{
            "Disconnected", "graph { a -- b\n c -- d }",
            "2: the topology is disconnected: a,b cannot reach c,d (a-c, a-d, b-c, b-d); expected cables that join all "
            "nodes"}),
    [](const ::testing::TestParamInfo<BadDot>& dot) { return std::string(dot.param.name); });

std::string dot_error(const std::string& text) {
  const absl::StatusOr<Topology> topology = parse_dot_topology(text, "t");
  EXPECT_FALSE(topology.ok());
  return std::string(topology.status().message());
}

TEST(DotTopology, BoundsItsInput) {
  EXPECT_THAT(dot_error(std::string(kMaxTopologyFileBytes + 1, '\n')),
              StartsWith("t:1: the file has 33554433 bytes; "));
  std::string nodes = "graph {";
  for (std::size_t i = 0; i <= kMaxNodes; ++i) absl::StrAppend(&nodes, i % 100 == 0 ? "\n" : "", " n", i);
  EXPECT_EQ(dot_error(nodes + "}"), "t:42: too many nodes; expected at most 4096");
  std::string chain = "graph { a";
  for (std::size_t i = 0; i < kMaxCables; ++i) chain += i % 2 == 0 ? "--b" : "--a";
  EXPECT_TRUE(parse_dot_topology(chain + "}", "t").ok());
  EXPECT_EQ(dot_error(chain + "--b}"), "t:1: too many cables; expected at most 65536");
  EXPECT_EQ(dot_error(chain + "; a--b}"), "t:1: too many cables; expected at most 65536");
  const std::string long_text(kMaxSketchTextBytes + 1, 'x');
  EXPECT_EQ(dot_error("graph { a [name=" + long_text + "] }"), "t:1: name has 8193 bytes; expected at most 8192");
  EXPECT_EQ(dot_error("graph { " + long_text + " }"), "t:1: the id of a node has 8193 bytes; expected at most 8192");
  EXPECT_EQ(read_dot("graph { a [label=" + long_text + ", tooltip=" + long_text + "] }").node_count(), 1U);
}

TEST(DotTopology, ReadsAsManyPlugsOfTheLongestNamesAsANodeHas) {
  const auto plugs = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      absl::StrAppend(&text, i == 0 ? "" : " ", std::string(kMaxPlugLength - 2, 'p'), 10 + i, "=", kMaxRateMbps);
    }
    return "graph { a [plugs=\"" + text + "\"] }";
  };
  EXPECT_EQ(read_dot(plugs(kMaxSharedParts)).node(NodeIndex{0}).plugs.size(), kMaxSharedParts);
  EXPECT_THAT(dot_error(plugs(kMaxSharedParts + 1)), HasSubstr("; expected at most 64 of NAME=RATE_MBPS"));
  EXPECT_LT(dot_error(plugs(kMaxSharedParts + 1)).size(), 200U);
}

TEST(DotTopology, BoundsTheNestingOfSubgraphs) {
  const auto nested = [](std::size_t depth) {
    return "graph {" + std::string(depth, '{') + "a" + std::string(depth, '}') + "}";
  };
  EXPECT_EQ(read_dot(nested(kMaxDotNesting)).node_count(), 1U);
  EXPECT_EQ(dot_error(nested(kMaxDotNesting + 1)), "t:1: subgraphs are nested too deeply; expected at most 64 levels");
  EXPECT_THAT(dot_error("graph {" + std::string(1'000'000, '{')), HasSubstr("nested too deeply"));
}

TEST(DotTopology, ErrorsStayShort) {
  const std::string long_text(5000, 'x');
  EXPECT_LT(dot_error("graph { a -- b [rate_mbps=" + long_text.substr(0, 250) + "] }").size(), 200U);
  EXPECT_LT(dot_error("graph " + long_text + " " + long_text).size(), 300U);
  EXPECT_LT(dot_error(long_text).size(), 300U);
}

}  // namespace
}  // namespace cableway::routing
