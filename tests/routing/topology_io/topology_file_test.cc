#include "routing/topology_io/topology_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "routing/text/node_name.h"
#include "routing/topology/port_address.h"
#include "routing/topology_io/json_topology.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kTwoNodes[] = R"(cluster = "lab"
[[node]]
name = "n0"
relay_port = 7471
[[node]]
name = "n1"
[[cable]]
name = "c0"
ends = [{node = "n0", interface = "eth1", address = "10.7.0.1"},
        {node = "n1", address = "10.7.0.2"}]
rate_mbps = 1000
latency_us = 2.5
routed = true
)";

TEST(TopologyFile, ReadsEveryKey) {
  const auto topology = parse_topology(kTwoNodes, "lab.toml");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->cluster(), "lab");
  ASSERT_EQ(topology->node_count(), 2U);
  EXPECT_EQ(topology->node(NodeIndex{0}), (Node{"n0", 7471}));
  EXPECT_EQ(topology->node(NodeIndex{1}), (Node{"n1", 7470}));
  ASSERT_EQ(topology->cable_count(), 1U);
  EXPECT_EQ(topology->cable(CableIndex{0}),
            (Cable{"c0", {NodeIndex{0}, "eth1", "10.7.0.1"}, {NodeIndex{1}, "", "10.7.0.2"}, 1000, 2.5, true}));
}

std::string nodes_text(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, "[[node]]\nname = \"n", i, "\"\n");
  return text;
}

std::string cable_text(const std::string& a, const std::string& b, int number, const std::string& more = "") {
  return absl::StrCat("[[cable]]\nends = [{node = \"", a, "\", address = \"10.7.", number, ".1\"}, {node = \"", b,
                      "\", address = \"10.7.", number, ".2\"}]\n", more);
}

TEST(TopologyFile, ReadsDrainingNodesAndPlugs) {
  const auto topology = parse_topology(
      "[[node]]\nname = \"n0\"\ndraining = true\n[[node]]\nname = \"n1\"\ndraining = false\n[[cable]]\n"
      "ends = [{node = \"n0\", address = \"10.7.0.1\", plug = \"0000:01:00\"}, {node = \"n1\", address = "
      "\"10.7.0.2\"}]\n",
      "lab.toml");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_TRUE(topology->node(NodeIndex{0}).draining);
  EXPECT_FALSE(topology->node(NodeIndex{1}).draining);
  EXPECT_EQ(topology->cable(CableIndex{0}).a.plug, "0000:01:00");
  EXPECT_EQ(topology->cable(CableIndex{0}).b.plug, "");
}

TEST(TopologyFile, ReadsPlugsAndRootsWithTheirRates) {
  const auto topology = parse_topology(
      "[[node]]\nname = \"n0\"\nplugs = [{name = \"p1\", rate_mbps = 200000},\n"
      "  {rate_mbps = 100000, name = \"0000:01:00\"}]\nroots = [{name = \"0000:00:00.0\", rate_mbps = 98300}]\n"
      "[[node]]\nname = \"n1\"\nplugs = []\n[[cable]]\n"
      "ends = [{node = \"n0\", address = \"10.7.0.1\", plug = \"p1\", root = \"0000:00:00.0\"}, {node = \"n1\", "
      "address = \"10.7.0.2\", root = \"r9\"}]\n",
      "lab.toml");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->node(NodeIndex{0}),
            (Node{"n0", 7470, false, {{"0000:01:00", 100'000}, {"p1", 200'000}}, {{"0000:00:00.0", 98'300}}}));
  EXPECT_EQ(topology->node(NodeIndex{1}), Node{"n1"});
  EXPECT_EQ(topology->cable(CableIndex{0}).a.root, "0000:00:00.0");
  EXPECT_EQ(topology->cable(CableIndex{0}).b.root, "r9") << "a root need not be listed";
}

TEST(TopologyFile, RefusesACableFasterThanItsPlugOrRoot) {
  const auto error = [](const char* rate) {
    const auto topology = parse_topology(
        absl::StrCat("[[node]]\nname = \"n0\"\nplugs = [{name = \"p0\", rate_mbps = 8000}]\n[[node]]\nname = \"n1\"\n"
                     "roots = [{name = \"r0\", rate_mbps = 5000}]\n[[cable]]\nname = \"c0\"\n",
                     "ends = [{node = \"n0\", address = \"10.7.0.1\", plug = \"p0\"},\n"
                     "  {node = \"n1\", address = \"10.7.0.2\", root = \"r0\"}]\n",
                     rate),
        "lab.toml");
    return std::string(topology.status().message());
  };
  EXPECT_EQ(error("rate_mbps = 8001"),
            "lab.toml:11: rate_mbps of cable \"c0\" is 8001; expected at most 8000, the rate of plug \"p0\" of node "
            "\"n0\"");
  EXPECT_EQ(error("rate_mbps = 8000"),
            "lab.toml:11: rate_mbps of cable \"c0\" is 8000; expected at most 5000, the rate of root \"r0\" of node "
            "\"n1\"");
  EXPECT_EQ(error("rate_mbps = 5000"), "") << "just as much";
  EXPECT_THAT(error(""), StartsWith("lab.toml:7: rate_mbps of cable \"c0\" is 10000; expected at most 8000"))
      << "the default";
}

TEST(TopologyFile, HasDefaults) {
  const auto topology = parse_topology(nodes_text(2) + cable_text("n1", "n0", 1), "lab.toml");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->cluster(), "cableway");
  const Cable& cable = topology->cable(CableIndex{0});
  EXPECT_EQ(cable.name, "n1-n0");
  EXPECT_EQ(cable.rate_mbps, 10'000U);
  EXPECT_EQ(cable.latency_us, std::nullopt);
  EXPECT_FALSE(cable.routed);
  EXPECT_EQ(cable.a.plug, "");
  EXPECT_EQ(cable.a.root, "");
  EXPECT_EQ(topology->node(NodeIndex{0}), Node{"n0"});
}

TEST(TopologyFile, NumbersParallelCablesAroundUsedNames) {
  const auto topology =
      parse_topology(nodes_text(2) + cable_text("n0", "n1", 1) + cable_text("n0", "n1", 2) +
                         cable_text("n0", "n1", 3, "name = \"n0-n1-2\"\n") + cable_text("n0", "n1", 4),
                     "lab.toml");
  ASSERT_TRUE(topology.ok()) << topology.status();
  const auto address_of = [&](const char* name) {
    const auto cable = topology->find_cable(name);
    return cable ? topology->cable(*cable).a.address : "";
  };
  EXPECT_EQ(address_of("n0-n1"), "10.7.1.1");
  EXPECT_EQ(address_of("n0-n1-3"), "10.7.2.1");
  EXPECT_EQ(address_of("n0-n1-2"), "10.7.3.1");
  EXPECT_EQ(address_of("n0-n1-4"), "10.7.4.1");
}

TEST(TopologyFile, ReadsASingleNode) {
  EXPECT_TRUE(parse_topology(nodes_text(1), "one.toml").ok());
}

TEST(TopologyFile, ReadsWindowsLineEndsAndAByteOrderMark) {
  const std::string text = "\xef\xbb\xbf" + absl::StrReplaceAll(kTwoNodes, {{"\n", "\r\n"}});
  EXPECT_EQ(*parse_topology(text, "lab.toml"), *parse_topology(kTwoNodes, "lab.toml"));
}

TEST(TopologyFile, AllowsAnythingInComments) {
  EXPECT_TRUE(
      parse_topology("# K\xc3\xb6ln, rack 7 \xca\x9d\n" + nodes_text(1) + "# not UTF-8: \xff", "lab.toml").ok());
}

struct BadFile {
  const char* name;
  const char* from;  // the part of kTwoNodes to replace
  const char* to;
  const char* error;  // the whole message, or its beginning followed by '*'
};

std::ostream& operator<<(std::ostream& out, const BadFile& param) {
  return out << param.name;
}

class BadFileTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadFileTest, IsRefusedWithFileAndLine) {
  const std::string text = absl::StrReplaceAll(kTwoNodes, {{GetParam().from, GetParam().to}});
  ASSERT_NE(text, kTwoNodes);
  const auto topology = parse_topology(text, "lab.toml");
  ASSERT_FALSE(topology.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(topology.status()));
  const std::string error(topology.status().message());
  const std::string expected = GetParam().error;
  if (expected.back() == '*') {
    EXPECT_THAT(error, StartsWith(expected.substr(0, expected.size() - 1)));
    EXPECT_THAT(error, HasSubstr("; expected "));
  } else {
    EXPECT_EQ(error, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    TopologyFile, BadFileTest,
    ::testing::Values(
        BadFile{"Syntax", "name = \"n0\"", "name = n0", "lab.toml:3: syntax error: *"},
        BadFile{"UnclosedList", "\"10.7.0.2\"}]", "\"10.7.0.2\"}", "lab.toml:11: syntax error: *"},
        BadFile{"SameKeyTwice", "name = \"n1\"", "name = \"n1\"\nname = \"n2\"", "lab.toml:7: syntax error: *"},
        BadFile{"NotUtf8", "\"lab\"", "\"\xff\"", "lab.toml:1: cluster name \"/\" is not valid; expected *"},
        BadFile{"NotAscii", "cluster =", "cluster \xca\x9d =", "lab.toml:1: syntax error: *"},
        BadFile{"InterfaceNotAscii", "eth1", "eth\xc3\xa9", "lab.toml:9: interface \"eth//\" of node \"n0\" is not *"},
        BadFile{"UnknownTopKey", "cluster", "clutser",
                "lab.toml:1: unknown key \"clutser\" (did you mean \"cluster\"?) in the topology file; expected one of "
                "cluster, node, cable"},
        BadFile{
            "UnknownNodeKey", "relay_port", "port",
            "lab.toml:4: unknown key \"port\" in [[node]]; expected one of name, relay_port, draining, plugs, roots"},
        BadFile{"UnknownCableKey", "rate_mbps", "rate",
                "lab.toml:11: unknown key \"rate\" (did you mean \"rate_mbps\"?) in [[cable]]; expected one of name, "
                "ends, rate_mbps, latency_us, routed, draining, loss_percent"},
        BadFile{"UnknownEndKey", "{node = \"n1\", address", "{node = \"n1\", ip",
                "lab.toml:10: unknown key \"ip\" in an end of a cable; expected one of node, interface, address, plug, "
                "root"},
        BadFile{"DrainingType", "relay_port = 7471", "draining = 1",
                "lab.toml:4: draining is not a boolean; expected true or false"},
        BadFile{"PlugType", "\"10.7.0.2\"", "\"10.7.0.2\", plug = 1",
                "lab.toml:10: plug is not text; expected text in quotes"},
        BadFile{"PlugEmpty", "\"10.7.0.2\"", "\"10.7.0.2\", plug = \"\"",
                "lab.toml:10: plug is empty; expected a name, or to leave plug out"},
        BadFile{"PlugBad", "\"10.7.0.2\"", "\"10.7.0.2\", plug = \"p 0\"",
                "lab.toml:10: plug \"p 0\" of node \"n1\" is not valid; expected 1 to 63 characters *"},
        BadFile{"RootType", "\"10.7.0.2\"", "\"10.7.0.2\", root = 1",
                "lab.toml:10: root is not text; expected text in quotes"},
        BadFile{"RootEmpty", "\"10.7.0.2\"", "\"10.7.0.2\", root = \"\"",
                "lab.toml:10: root is empty; expected a name, or to leave root out"},
        BadFile{"RootBad", "\"10.7.0.2\"", "\"10.7.0.2\", root = \"r 0\"",
                "lab.toml:10: root \"r 0\" of node \"n1\" is not valid; expected 1 to 63 characters *"},
        BadFile{"PlugsType", "relay_port = 7471", "plugs = 1",
                "lab.toml:4: plugs is not a list; expected plugs = [{name = \"..\", rate_mbps = ..}, ..]"},
        BadFile{"RootsElementType", "relay_port = 7471", "roots = [\n1]",
                "lab.toml:5: roots has an element that is not a table; expected roots = [{name = \"..\", rate_mbps = "
                "..}, ..]"},
        BadFile{
            "UnknownPlugKey", "relay_port = 7471", "plugs = [{name = \"p0\", rate = 1}]",
            "lab.toml:4: unknown key \"rate\" (did you mean \"rate_mbps\"?) in an element of plugs; expected one of "
            "name, rate_mbps"},
        BadFile{"PlugWithoutName", "relay_port = 7471", "plugs = [{rate_mbps = 1}]",
                "lab.toml:4: an element of plugs has no name; expected plugs = *"},
        BadFile{"RootWithoutRate", "relay_port = 7471", "roots = [{name = \"r0\"}]",
                "lab.toml:4: an element of roots has no rate_mbps; expected roots = *"},
        BadFile{"RootRateZero", "relay_port = 7471", "roots = [{name = \"r0\", rate_mbps = 0}]",
                "lab.toml:4: rate_mbps is 0; expected a whole number, 1 to 10000000"},
        BadFile{"RootRateType", "relay_port = 7471", "roots = [{name = \"r0\", rate_mbps = 1.5}]",
                "lab.toml:4: rate_mbps is not a whole number; expected a whole number, 1 to 10000000"},
        BadFile{"PlugNameType", "relay_port = 7471", "plugs = [{name = 1, rate_mbps = 1}]",
                "lab.toml:4: name is not text; expected text in quotes"},
        BadFile{"PlugNameBad", "relay_port = 7471", "plugs = [{name = \"p 0\", rate_mbps = 1}]",
                "lab.toml:4: plug \"p 0\" of node \"n0\" is not valid; expected 1 to 63 characters *"},
        BadFile{"RootTwice", "relay_port = 7471",
                "roots = [{name = \"r0\", rate_mbps = 1},\n  {name = \"r0\", rate_mbps = 1}]",
                "lab.toml:4: root \"r0\" of node \"n0\" is listed twice; expected each root once"},
        BadFile{"ClusterType", "\"lab\"", "7", "lab.toml:1: cluster is not text; expected text in quotes"},
        BadFile{"ClusterName", "\"lab\"", "\"a b\"", "lab.toml:1: cluster name \"a b\" is not valid; expected *"},
        BadFile{"NodeType", "[[node]]\nname = \"n1\"", "",
                "lab.toml:9: a cable ends at node \"n1\", which is not in *"},
        BadFile{"NodeNameType", "name = \"n1\"", "name = 1", "lab.toml:6: name is not text; expected text in quotes"},
        BadFile{"NodeNameMissing", "name = \"n1\"", "", "lab.toml:5: a node has no name; expected name = \"..\""},
        BadFile{"NodeNameBad", "name = \"n0\"", "name = \"n/0\"", "lab.toml:9: a cable ends at node \"n0\", which *"},
        BadFile{"NodeNameTwice", "name = \"n1\"", "name = \"n1\"\n[[node]]\nname = \"n0\"",
                "lab.toml:8: node name \"n0\" is used twice; expected every node to have its own name"},
        BadFile{"PortType", "7471", "\"7471\"", "lab.toml:4: relay_port is not a whole number; expected a whole *"},
        BadFile{"PortRange", "7471", "65536", "lab.toml:4: relay_port is 65536; expected a whole number, 1 to 65535"},
        BadFile{"PortZero", "7471", "0", "lab.toml:4: relay_port is 0; expected a whole number, 1 to 65535"},
        BadFile{"UnknownNode", "node = \"n1\"", "node = \"n9\"",
                "lab.toml:10: a cable ends at node \"n9\", which is not in the file; expected one of \"n0\", \"n1\""},
        BadFile{"NoEnds", "ends = [", "# [", "lab.toml:10: syntax error: *"},
        BadFile{"EndWithoutNode", "{node = \"n1\", address", "{address",
                "lab.toml:10: an end of a cable has no node; expected *"},
        BadFile{"EndWithoutAddress", "{node = \"n1\", address = \"10.7.0.2\"}", "{node = \"n1\"}",
                "lab.toml:10: an end of a cable has no address; expected *"},
        BadFile{"OneEnd", "\"10.7.0.1\"},\n        {node = \"n1\", address = \"10.7.0.2\"}]", "\"10.7.0.1\"}]",
                "lab.toml:9: a cable has 1 end; expected ends = [{node = \"..\", address = \"..\"}, *"},
        BadFile{"ThreeEnds", "{node = \"n1\", address = \"10.7.0.2\"}", "{}, {}, {}",
                "lab.toml:9: a cable has 4 ends; expected ends = [*"},
        BadFile{"EndType", "{node = \"n1\", address = \"10.7.0.2\"}", "\"n1\"",
                "lab.toml:10: an end of a cable is not a table; expected ends = [*"},
        BadFile{"Address", "10.7.0.2", "10.7.0.300",
                "lab.toml:10: address \"10.7.0.300\" is not an IP address; expected an IPv4 or IPv6 address such as *"},
        BadFile{"AddressType", "\"10.7.0.2\"", "10", "lab.toml:10: address is not text; expected text in quotes"},
        BadFile{"AddressTwice", "10.7.0.2", "10.7.0.1",
                "lab.toml:10: address \"10.7.0.1\" of node \"n1\" is already used by node \"n0\" on cable \"c0\"; *"},
        BadFile{"SelfCable", "node = \"n1\"", "node = \"n0\"",
                "lab.toml:10: cable \"c0\" joins node \"n0\" to itself; expected two different nodes"},
        BadFile{"Interface", "\"eth1\"", "\"eth/1\"", "lab.toml:9: interface \"eth/1\" of node \"n0\" is not valid; *"},
        BadFile{"InterfaceEmpty", "\"eth1\"", "\"\"", "lab.toml:9: interface is empty; expected a name, or to leave *"},
        BadFile{"CableName", "\"c0\"", "\"c 0\"", "lab.toml:8: cable name \"c 0\" is not valid; expected *"},
        BadFile{"CableNameEmpty", "\"c0\"", "\"\"", "lab.toml:8: name is empty; expected a name, or to leave name out"},
        BadFile{"RateZero", "1000", "0", "lab.toml:11: rate_mbps is 0; expected a whole number, 1 to 10000000"},
        BadFile{"RateNegative", "1000", "-5", "lab.toml:11: rate_mbps is -5; expected a whole number, 1 to 10000000"},
        BadFile{"RateFraction", "1000", "1.5", "lab.toml:11: rate_mbps is not a whole number; expected a whole *"},
        BadFile{"LatencyType", "2.5", "\"2.5\"", "lab.toml:12: latency_us is not a number; expected microseconds, *"},
        BadFile{"LatencyNegative", "2.5", "-2.5",
                "lab.toml:12: latency_us of cable \"c0\" is -2.5; expected 0 to 1e+06"},
        BadFile{"LatencyInfinite", "2.5", "inf", "lab.toml:12: latency_us of cable \"c0\" is inf; expected 0 to 1e+06"},
        BadFile{"RoutedType", "true", "1", "lab.toml:13: routed is not a boolean; expected true or false"}),
    [](const ::testing::TestParamInfo<BadFile>& file) { return std::string(file.param.name); });

std::string toml_error(const std::string& text) {
  const auto topology = parse_topology(text, "t");
  EXPECT_FALSE(topology.ok());
  return std::string(topology.status().message());
}

TEST(TopologyFile, RefusesOtherValuesThanListsOfTables) {
  EXPECT_EQ(toml_error("node = 1\n"), "t:1: \"node\" is not a list of tables; expected [[node]]");
  EXPECT_EQ(toml_error("\n[node]\nname = \"n0\"\n"), "t:2: \"node\" is not a list of tables; expected [[node]]");
  EXPECT_EQ(toml_error("\n\ncable = [1]\n"), "t:3: \"cable\" has an element that is not a table; expected [[cable]]");
  EXPECT_EQ(toml_error(nodes_text(1) + "[[cable]]\n"),
            "t:3: a cable has no ends; expected ends = [{node = \"..\", address = \"..\"}, {node = \"..\", address = "
            "\"..\"}]");
  EXPECT_EQ(toml_error(nodes_text(1) + "[[cable]]\nends = 2\n").substr(0, 24), "t:4: ends is not a list;");
  EXPECT_EQ(toml_error(""), "t:1: there are no nodes; expected at least one");
}

TEST(TopologyFile, NamesThePairsOfADisconnectedTopology) {
  EXPECT_EQ(toml_error(nodes_text(4) + cable_text("n0", "n1", 1) + cable_text("n2", "n3", 2)),
            "t:5: the topology is disconnected: n0,n1 cannot reach n2,n3 (n0-n2, n0-n3, n1-n2, n1-n3); expected cables "
            "that join all nodes");
  EXPECT_EQ(
      toml_error(nodes_text(3)),
      "t:3: the topology is disconnected: n0 cannot reach n1 nor n2 (n0-n1); expected cables that join all nodes");
  const std::string of_many = toml_error(nodes_text(1000) + cable_text("n0", "n999", 1));
  EXPECT_THAT(of_many, HasSubstr("n0,n999 cannot reach n1 nor n2 nor n3 nor 995 other groups (n0-n1, n999-n1);"));
  std::string two_lines = nodes_text(40);
  for (int i = 0; i < 38; ++i) two_lines += cable_text(absl::StrCat("n", i), absl::StrCat("n", i + 2), i);
  EXPECT_EQ(toml_error(two_lines),
            "t:3: the topology is disconnected: n0,n2,n4,n6,n8,n10,n12,n14 and 12 more cannot reach "
            "n1,n3,n5,n7,n9,n11,n13,n15 and 12 more (n0-n1, n0-n3, n0-n5, n0-n7, n0-n9, n0-n11, ..); expected cables "
            "that join all nodes");
}

TEST(TopologyFile, AcceptsADisconnectedTopologyOfARunningNode) {
  const std::string text = nodes_text(3) + cable_text("n0", "n2", 1);
  const absl::StatusOr<Topology> topology = parse_topology(text, "t", Disconnected::kAccepted);
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->components().size(), 2U);
  EXPECT_EQ(*parse_topology(to_topology_file(*topology), "t", Disconnected::kAccepted), *topology);
  EXPECT_FALSE(parse_topology(text, "t", Disconnected::kRefused).ok());
}

TEST(TopologyFile, RefusesInputThatBreaksTheTomlParser) {
  for (const char* text : {"[", "[[", "[]", "[[]]", "[[[a]]]", "[[=", "[ [a]]", "\t[[ .a]]", "[.a]", "[{", "a = [}",
                           "a = [[\n}x", "a = {]", "a = ,", "a = \"\\", "a = '''x''''''"}) {
    EXPECT_THAT(toml_error(std::string("\n") + text), ::testing::MatchesRegex("t:[23]: syntax error: .*")) << text;
    EXPECT_THAT(toml_error(std::string("\n") + text + "\n"), ::testing::MatchesRegex("t:[23]: syntax error: .*"))
        << text;
  }
}

TEST(TopologyFile, RefusesAFileThatIsTooLarge) {
  EXPECT_EQ(toml_error("\n" + std::string(kMaxTopologyFileLineBytes + 1, '#')),
            "t:2: the line has 1025 bytes; expected at most 1024");
  EXPECT_THAT(toml_error(std::string(kMaxTopologyFileBytes + 1, '\n')),
              StartsWith("t:1: the file has 33554433 bytes; "));
  const std::string longest = "#" + std::string(kMaxTopologyFileLineBytes - 1, 'x') + "\n";
  EXPECT_TRUE(parse_topology(longest + kTwoNodes + longest, "t").ok());
}

TEST(TopologyFile, DeepNestingDoesNotExhaustTheStack) {
  std::string dotted = "a";
  while (dotted.size() + 10 < kMaxTopologyFileLineBytes) dotted += ".a";
  std::string nested = "[" + dotted + "]\n" + dotted + " = [\n";
  for (int i = 0; i < 7; ++i) nested += "{" + dotted + " = [\n";
  for (int i = 0; i < 7; ++i) nested += "]}\n";
  nested += "]\n";
  EXPECT_THAT(toml_error(nested), HasSubstr("unknown key \"a\""));  // it parsed: the maximum depth
  EXPECT_THAT(toml_error("a = " + std::string(500, '[') + std::string(500, ']')), HasSubstr("syntax error"));
  EXPECT_THAT(toml_error("a = " + std::string(1000, '[')), HasSubstr("syntax error"));
}

TEST(TopologyFile, ErrorsStayShort) {
  const std::string long_name(900, 'x');
  EXPECT_LT(toml_error(nodes_text(1) + cable_text(long_name.substr(0, 800), "n0", 1)).size(), 400U);
  EXPECT_LT(toml_error(long_name + " = 1\n").size(), 400U);
  EXPECT_LT(toml_error("cluster = \"" + long_name + "\"\n" + nodes_text(1)).size(), 400U);
  EXPECT_LT(toml_error("cluster = " + long_name + "\n").size(), 400U);
  EXPECT_LT(toml_error("[" + long_name + "\n").size(), 400U);
  EXPECT_LT(toml_error(long_name + "=1\n" + long_name + "=1\n").size(), 1300U);
}

TEST(TopologyFile, RoundTrips) {
  std::mt19937 random(3);
  for (int graph = 0; graph < 200; ++graph) {
    const std::uint32_t count = 1 + static_cast<std::uint32_t>(random() % 12);
    std::vector<Node> nodes = sample_nodes(count);
    for (Node& node : nodes) {
      node.relay_port = static_cast<std::uint16_t>(1 + random() % 65535);
      node.draining = random() % 4 == 0;
      for (std::size_t i = random() % 3; i > 0; --i) {
        node.plugs.push_back({absl::StrCat("p", i), 1 + random() % kMaxRateMbps});
      }
      for (std::size_t i = random() % 3; i > 0; --i) {
        node.roots.push_back({absl::StrCat("0000:0", i, ":00.0"), 1 + random() % kMaxRateMbps});
      }
    }
    std::vector<Cable> cables;
    for (std::uint32_t i = 1; i < count; ++i) {
      Cable cable = sample_cable(i, i, static_cast<std::uint32_t>(random() % i));
      cable.rate_mbps = 1 + random() % kMaxRateMbps;
      if (random() % 4 != 0) cable.latency_us = static_cast<double>(random()) / 7919.0;
      cable.routed = random() % 2 == 0;
      cable.draining = random() % 4 == 0;
      if (random() % 4 == 0) cable.loss_percent = static_cast<std::uint8_t>(1 + random() % kMaxLossPercent);
      if (random() % 2 == 0) {
        cable.a.interface = "eth0.100";
        cable.a.address = absl::StrCat("fe80::", i, "%eth0.100");
        cable.b.address = absl::StrCat("fd00::", i);
      }
      if (random() % 2 == 0) cable.a.plug = absl::StrCat("0000:", random() % 3, "1:00");
      if (random() % 2 == 0) cable.b.plug = "p0";
      if (random() % 2 == 0) cable.a.root = absl::StrCat("0000:0", random() % 3, ":00.0");
      if (random() % 2 == 0) cable.b.root = "r";
      cables.push_back(cable);
    }
    keep_to_parts(nodes, cables);
    const Topology topology = make_topology(nodes, cables);
    const auto read_back = parse_topology(to_topology_file(topology), "t");
    ASSERT_TRUE(read_back.ok()) << read_back.status();
    EXPECT_EQ(*read_back, topology);
    const auto from_json = parse_json_topology(to_json_topology(topology), "t");
    ASSERT_TRUE(from_json.ok()) << from_json.status();
    EXPECT_EQ(*from_json, topology);
  }
}

TEST(TopologyFile, RoundTripsTheLongestNames) {
  const auto longest = [](std::size_t size, char c) { return std::string(size, c); };
  std::vector<Node> nodes = sample_nodes(2);
  for (Node& node : nodes) {
    node.name += longest(kMaxNodeNameBytes - node.name.size(), 'n');
    for (std::size_t i = 0; i < kMaxSharedParts; ++i) {
      node.plugs.push_back({absl::StrCat(longest(kMaxPlugLength - 2, 'p'), 10 + i), kMaxRateMbps});
      node.roots.push_back({absl::StrCat(longest(kMaxPlugLength - 2, 'r'), 10 + i), kMaxRateMbps});
    }
  }
  Cable cable = sample_cable(0, 0, 1);
  cable.name = longest(kMaxCableNameLength, 'c');
  for (Port* const port : {&cable.a, &cable.b}) {
    port->interface = longest(kMaxInterfaceNameBytes, 'i');
    port->address = absl::StrCat("fe80::1234:5678:9abc:def", port == &cable.a ? 0 : 1, "%", port->interface);
    port->plug = nodes[0].plugs[0].name;
    port->root = nodes[0].roots[0].name;
  }
  const Topology topology = make_topology(nodes, {cable});
  const auto read_back = parse_topology(to_topology_file(topology), "t");
  ASSERT_TRUE(read_back.ok()) << read_back.status();
  EXPECT_EQ(*read_back, topology);
}

}  // namespace
}  // namespace cableway::routing
