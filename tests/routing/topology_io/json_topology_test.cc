#include "routing/topology_io/json_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "routing/shapes/topology_generator.h"
#include "routing/topology_io/topology_file.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::StartsWith;

constexpr char kJsonFile[] = R"({
  "schema": 1, "cluster": "lab",
  "nodes": [
    {"name": "n0", "relay_port": 7471, "draining": true, "plugs": [{"name": "p0", "rate_mbps": 2000}],
     "roots": [{"name": "r1", "rate_mbps": 9800}, {"name": "r0", "rate_mbps": 4900}]},
    {"name": "n1"}
  ],
  "cables": [
    {"name": "c0",
     "ends": [{"node": "n0", "interface": "eth1", "address": "10.7.0.1", "plug": "p0", "root": "r1"},
              {"node": "n1", "interface": "", "address": "10.7.0.2", "plug": "", "root": ""}],
     "rate_mbps": 1000, "latency_us": 2.5, "routed": true},
    {"ends": [{"node": "n1", "address": "10.7.1.1"}, {"node": "n0", "address": "10.7.1.2"}], "latency_us": 3}
  ]
})";

TEST(JsonTopology, ReadsEveryMember) {
  const absl::StatusOr<Topology> topology = parse_json_topology(kJsonFile, "t.json");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->cluster(), "lab");
  ASSERT_EQ(topology->node_count(), 2U);
  EXPECT_EQ(topology->node(NodeIndex{0}), (Node{"n0", 7471, true, {{"p0", 2000}}, {{"r0", 4900}, {"r1", 9800}}}));
  EXPECT_EQ(topology->node(NodeIndex{1}), (Node{"n1", 7470}));
  ASSERT_EQ(topology->cable_count(), 2U);
  EXPECT_EQ(
      topology->cable(CableIndex{0}),
      (Cable{"c0", {NodeIndex{0}, "eth1", "10.7.0.1", "p0", "r1"}, {NodeIndex{1}, "", "10.7.0.2"}, 1000, 2.5, true}));
  EXPECT_EQ(topology->cable(CableIndex{1}),
            (Cable{"n1-n0", {NodeIndex{0}, "", "10.7.1.2"}, {NodeIndex{1}, "", "10.7.1.1"}, 10'000, 3}));
}

TEST(JsonTopology, ALatencyOfNullOrNoneIsNotKnown) {
  for (const char* const rest : {"\"latency_us\": null", "\"rate_mbps\": 10000"}) {
    const absl::StatusOr<Topology> topology =
        parse_json_topology(absl::StrReplaceAll(kJsonFile, {{"\"latency_us\": 3", rest}}), "t.json");
    ASSERT_TRUE(topology.ok()) << topology.status();
    EXPECT_EQ(topology->cable(CableIndex{1}).latency_us, std::nullopt);
    EXPECT_EQ(topology->cable(CableIndex{0}).latency_us, 2.5);
  }
}

TEST(JsonTopology, WritesEveryMemberAndOneElementPerLine) {
  const std::string unknown = absl::StrReplaceAll(kJsonFile, {{", \"latency_us\": 3", ""}});
  const std::string text = to_json_topology(*parse_json_topology(unknown, "t"));
  EXPECT_EQ(text, R"({"schema": 1, "cluster": "lab",
 "nodes": [
  {"name":"n0","relay_port":7471,"draining":true,"plugs":[{"name":"p0","rate_mbps":2000}],"roots":[{"name":"r0","rate_mbps":4900},{"name":"r1","rate_mbps":9800}]},
  {"name":"n1","relay_port":7470,"draining":false,"plugs":[],"roots":[]}],
 "cables": [
  {"name":"c0","ends":[{"node":"n0","interface":"eth1","address":"10.7.0.1","plug":"p0","root":"r1"},{"node":"n1","interface":"","address":"10.7.0.2","plug":"","root":""}],"rate_mbps":1000,"latency_us":2.5,"routed":true,"draining":false},
  {"name":"n1-n0","ends":[{"node":"n0","interface":"","address":"10.7.1.2","plug":"","root":""},{"node":"n1","interface":"","address":"10.7.1.1","plug":"","root":""}],"rate_mbps":10000,"latency_us":null,"routed":false,"draining":false}]}
)");
}

TEST(JsonTopology, ReadsWhatItWrites) {
  const Topology parts = sample_topology(5, {{0, 1}, {1, 2}, {2, 0}, {3, 4}});
  for (const Topology& topology : {*parse_json_topology(kJsonFile, "t"), sample_topology(16, mesh_pairs(16)), parts,
                                   *generate_topology("sparks:4"), *generate_topology("sparks:4@40G,2.5us"),
                                   *parse_json_topology(R"({"nodes": [{"name": "a"}]})", "t")}) {
    const absl::StatusOr<Topology> again =
        parse_json_topology(to_json_topology(topology), "again", Disconnected::kAccepted);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, topology);
  }
}

TEST(JsonTopology, IgnoresWhatTheCommandLineAdds) {
  const auto topology = parse_json_topology(
      R"({"nodes": [{"name": "n0"}], "gone": [{"name": "c0"}], "expected": {"differences": []}})", "t");
  EXPECT_TRUE(topology.ok()) << topology.status();
}

TEST(JsonTopology, ReadsASingleNode) {
  const absl::StatusOr<Topology> topology = parse_json_topology("\xef\xbb\xbf{\"nodes\": [{\"name\": \"a\"}]}", "t");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->cluster(), "cableway");
  EXPECT_EQ(topology->cable_count(), 0U);
}

TEST(JsonTopology, AcceptsADisconnectedTopologyOnlyOnRequest) {
  const std::string text = R"({"nodes": [{"name": "b"}, {"name": "a"}]})";
  EXPECT_TRUE(parse_json_topology(text, "t", Disconnected::kAccepted).ok());
  EXPECT_EQ(
      parse_json_topology(text, "t", Disconnected::kRefused).status().message(),
      "t: at /nodes/0: the topology is disconnected: a cannot reach b (a-b); expected cables that join all nodes");
}

TEST(JsonTopology, RefusesMembersOfOtherTypes) {
  const auto error_of = [](const char* text) {
    return std::string(parse_json_topology(text, "t", Disconnected::kAccepted).status().message());
  };
  EXPECT_EQ(error_of(R"({"nodes": 7})"), "t: at /nodes: not an array; expected [..]");
  EXPECT_EQ(error_of(R"({"nodes": [], "cables": {}})"), "t: at /cables: not an array; expected [..]");
  EXPECT_EQ(error_of(R"({"nodes": [], "cluster": []})"), "t: at /cluster: not text; expected text in quotes");
  EXPECT_EQ(error_of(R"({"nodes": [{"name": "a", "plugs": 1}]})"), "t: at /nodes/0/plugs: not an array; expected [..]");
}

struct BadJson {
  const char* name;
  const char* from;  // the part of kJsonFile to replace
  const char* to;
  const char* error;  // the whole message, or its beginning followed by '*'
};

std::ostream& operator<<(std::ostream& out, const BadJson& param) {
  return out << param.name;
}

class BadJsonTest : public ::testing::TestWithParam<BadJson> {};

TEST_P(BadJsonTest, IsRefusedWithItsPlace) {
  const std::string text = absl::StrReplaceAll(kJsonFile, {{GetParam().from, GetParam().to}});
  ASSERT_NE(text, kJsonFile);
  const absl::StatusOr<Topology> topology = parse_json_topology(text, "t.json");
  ASSERT_FALSE(topology.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(topology.status()));
  const std::string error(topology.status().message());
  std::string expected = absl::StrCat("t.json:", GetParam().error);
  if (expected.back() == '*') {
    expected.pop_back();
    EXPECT_THAT(error, StartsWith(expected));
    EXPECT_THAT(error, ::testing::HasSubstr("; expected "));
  } else {
    EXPECT_EQ(error, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    JsonTopology, BadJsonTest,
    ::testing::Values(
        BadJson{"Syntax", "\"name\": \"n1\"", "\"name\" \"n1\"", "6: column 16: syntax error while parsing object *"},
        BadJson{"NotUtf8", "lab", "\xff",
                "2: column 28: syntax error while parsing value - invalid string: ill-formed *"},
        BadJson{
            "HugeNumber", "2.5", "1e999",
            "12: column 43: number overflow parsing '1e999'; expected JSON as `cableway topology --json` prints it"},
        BadJson{"NotAnObject", "\"nodes\": [", "\"nodes\": [7, ",
                " at /nodes/0: not an object; expected {\"name\": ..}"},
        BadJson{"NoNodes", "\"nodes\"", "\"node\"",
                " unknown member \"node\" (did you mean \"nodes\"?); expected one of nodes, cluster, cables, expected, "
                "gone, schema"},
        BadJson{"LaterSchema", "\"schema\": 1", "\"schema\": 2, \"links\": []",
                " its schema is 2; expected 1: read it with the version that wrote it, or a later one"},
        BadJson{"SchemaType", "\"schema\": 1", "\"schema\": \"1\"",
                " member \"schema\" is not a version number; expected 1"},
        BadJson{"UnknownNodeMember", "\"draining\"", "\"drains\"",
                " at /nodes/0: unknown member \"drains\"; expected one of name, relay_port, draining, plugs, roots"},
        BadJson{"UnknownCableMember", "\"routed\"", "\"route\"",
                " at /cables/0: unknown member \"route\" (did you mean \"routed\"?); expected one of ends, name, "
                "rate_mbps, latency_us, routed, draining, loss_percent"},
        BadJson{
            "UnknownEndMember", "\"plug\": \"\"", "\"socket\": \"\"",
            " at /cables/0/ends/1: unknown member \"socket\"; expected one of node, interface, address, plug, root"},
        BadJson{"NoName", "{\"name\": \"n1\"}", "{}", " at /nodes/1: there is no \"name\"; expected {\"name\": ..}"},
        BadJson{"NoEnds",
                "{\"ends\": [{\"node\": \"n1\", \"address\": \"10.7.1.1\"}, {\"node\": \"n0\", \"address\": "
                "\"10.7.1.2\"}], ",
                "{", " at /cables/1: there is no \"ends\"; expected {\"ends\": ..}"},
        BadJson{"NoEndNode", "\"node\": \"n1\", \"interface\"", "\"interface\"",
                " at /cables/0/ends/1: there is no \"node\"; expected {\"node\": ..}"},
        BadJson{"ClusterType", "\"lab\"", "7", " at /cluster: not text; expected text in quotes"},
        BadJson{"ClusterName", "\"lab\"", "\"a b\"",
                " at /cluster: cluster name \"a b\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ -"},
        BadJson{"ClusterIsAFolder", "\"lab\"", "\"..\"",
                " at /cluster: cluster name \"..\" begins with \".\"; expected a letter, a digit or _ first"},
        BadJson{
            "NameHasANul", "\"n1\"", "\"n1\\u0000\"",
            " at /nodes/1/name: node name \"n1\\x00\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ -"},
        BadJson{"MemberTwice", "\"name\": \"n1\"", "\"name\": \"n1\", \"name\": \"n2\"",
                " at /nodes/1: member \"name\" occurs twice; expected each member once"},
        BadJson{"NameType", "\"n1\"}", "null}", " at /nodes/1/name: not text; expected text in quotes"},
        BadJson{"NameBad", "\"n1\"", "\"n 1\"",
                " at /nodes/1/name: node name \"n 1\" is not valid; expected 1 to 63 characters of A-Z a-z 0-9 . _ -"},
        BadJson{"NameTwice", "\"n1\"", "\"n0\"",
                " at /nodes/1/name: node name \"n0\" is used twice; expected every node to have its own name"},
        BadJson{"RelayPortType", "7471", "\"7471\"",
                " at /nodes/0/relay_port: not a number; expected a whole number, 1 to 65535"},
        BadJson{"RelayPortZero", "7471", "0", " at /nodes/0/relay_port: 0; expected a whole number, 1 to 65535"},
        BadJson{"RelayPortHigh", "7471", "65536",
                " at /nodes/0/relay_port: 65536; expected a whole number, 1 to 65535"},
        BadJson{"RelayPortFraction", "7471", "1.5",
                " at /nodes/0/relay_port: 1.5; expected a whole number, 1 to 65535"},
        BadJson{"DrainingType", "\"draining\": true", "\"draining\": 1",
                " at /nodes/0/draining: not a boolean; expected true or false"},
        BadJson{"EndsType", "\"ends\": [{\"node\": \"n1\"", "\"ends\": 2, \"name\": [{\"node\": \"n1\"",
                " at /cables/1/name: not text; expected text in quotes"},
        BadJson{"OneEnd", ", {\"node\": \"n0\", \"address\": \"10.7.1.2\"}", "",
                " at /cables/1/ends: a cable with 1 ends; expected two of {\"node\": .., \"interface\": .., "
                "\"address\": .., "
                "\"plug\": .., \"root\": ..}"},
        BadJson{"EndType", "{\"node\": \"n0\", \"address\": \"10.7.1.2\"}", "\"n0\"",
                " at /cables/1/ends/1: not an object; expected {\"node\": ..}"},
        BadJson{"UnknownNode", "\"node\": \"n1\", \"address\"", "\"node\": \"n9\", \"address\"",
                " at /cables/1/ends/0/node: there is no node \"n9\"; expected one of those in /nodes"},
        BadJson{"InterfaceType", "\"eth1\"", "1", " at /cables/0/ends/0/interface: not text; expected text in quotes"},
        BadJson{"Interface", "eth1", "eth/1",
                " at /cables/0/ends/0: interface \"eth/1\" of node \"n0\" is not valid; expected *"},
        BadJson{"Plug", "\"plug\": \"p0\"", "\"plug\": \"p 0\"",
                " at /cables/0/ends/0: plug \"p 0\" of node \"n0\" is not valid; expected *"},
        BadJson{"Root", "\"root\": \"r1\"", "\"root\": \"r 1\"",
                " at /cables/0/ends/0: root \"r 1\" of node \"n0\" is not valid; expected *"},
        BadJson{"RootType", "\"root\": \"r1\"", "\"root\": 1",
                " at /cables/0/ends/0/root: not text; expected text in quotes"},
        BadJson{"PlugType", "{\"name\": \"p0\", \"rate_mbps\": 2000}", "\"p0\"",
                " at /nodes/0/plugs/0: not an object; expected {\"name\": ..}"},
        BadJson{"PlugName", "{\"name\": \"p0\"", "{\"name\": \"p 0\"",
                " at /nodes/0/plugs: plug \"p 0\" of node \"n0\" is not valid; expected *"},
        BadJson{"NoPlugName", "{\"name\": \"p0\", ", "{",
                " at /nodes/0/plugs/0: there is no \"name\"; expected {\"name\": ..}"},
        BadJson{"UnknownPlugMember", "\"rate_mbps\": 2000", "\"rate\": 200",
                " at /nodes/0/plugs/0: unknown member \"rate\" (did you mean \"rate_mbps\"?); expected one of name, "
                "rate_mbps"},
        BadJson{"NoRootRate", "\"r0\", \"rate_mbps\": 4900", "\"r0\"",
                " at /nodes/0/roots/1: there is no \"rate_mbps\"; expected one"},
        BadJson{"RootRate", ": 4900", ": 0",
                " at /nodes/0/roots/1/rate_mbps: 0; expected a whole number, 1 to 10000000"},
        BadJson{"RootTwice", "\"r0\"", "\"r1\"",
                " at /nodes/0/roots: root \"r1\" of node \"n0\" is listed twice; expected each root once"},
        BadJson{"NoAddress", ", \"address\": \"10.7.1.1\"", "",
                " at /cables/1/ends/0: address \"\" is not an IP address; expected *"},
        BadJson{"AddressTwice", "10.7.1.1", "10.7.0.1",
                " at /cables/1/ends/0: address \"10.7.0.1\" of node \"n1\" is already used by node \"n0\" on cable *"},
        BadJson{"SelfCable", "\"node\": \"n1\", \"address\"", "\"node\": \"n0\", \"address\"",
                " at /cables/1/ends/1: cable \"n0-n0\" joins node \"n0\" to itself; expected two different nodes"},
        BadJson{"CableName", "\"c0\"", "\"c 0\"", " at /cables/0/name: cable name \"c 0\" is not valid; expected *"},
        BadJson{"RateZero", "1000,", "0,", " at /cables/0/rate_mbps: 0; expected a whole number, 1 to 10000000"},
        BadJson{"RateNegative", "1000,", "-5,", " at /cables/0/rate_mbps: -5; expected a whole number, 1 to 10000000"},
        BadJson{"RateAbovePlug", "1000,", "2001,",
                " at /cables/0/rate_mbps: rate_mbps of cable \"c0\" is 2001; expected at most 2000, the rate of plug "
                "\"p0\" of node \"n0\""},
        BadJson{"RateAboveRoot", "\"rate_mbps\": 9800", "\"rate_mbps\": 999",
                " at /cables/0/rate_mbps: rate_mbps of cable \"c0\" is 1000; expected at most 999, the rate of root "
                "\"r1\" of node \"n0\""},
        BadJson{"LatencyType", "2.5", "\"2.5\"",
                " at /cables/0/latency_us: not a number; expected microseconds, such as 1.5, or null"},
        BadJson{"LatencyNegative", "2.5", "-2.5",
                " at /cables/0/latency_us: latency_us of cable \"c0\" is -2.5; expected 0 to 1e+06"},
        BadJson{"RoutedType", "\"routed\": true", "\"routed\": \"no\"",
                " at /cables/0/routed: not a boolean; expected true or false"}),
    [](const ::testing::TestParamInfo<BadJson>& file) { return std::string(file.param.name); });

std::string json_error(const std::string& text) {
  const absl::StatusOr<Topology> topology = parse_json_topology(text, "t");
  EXPECT_FALSE(topology.ok());
  return std::string(topology.status().message());
}

TEST(JsonTopology, RefusesOtherJson) {
  EXPECT_EQ(json_error("[]"), "t: not an object; expected {\"nodes\": ..}");
  EXPECT_EQ(json_error("{}"), "t: there is no \"nodes\"; expected {\"nodes\": ..}");
  EXPECT_EQ(json_error("{\"nodes\": []}"), "t: there are no nodes; expected at least one");
  EXPECT_EQ(json_error("{\"nodes\": [{\"name\": \"a\"}], \"cables\": 1}"),
            "t: at /cables: not an array; expected [..]");
  EXPECT_EQ(json_error("{\"nodes\": [{\"name\": \"a\"}], \"cables\": [{\"ends\": 2}]}"),
            "t: at /cables/0/ends: not an array; expected [..]");
  for (const char* text : {"", "{", "{]", "nul", "{\"a\": 1,}", "{} x", "\"\\u12\"", "[1 2]", "\"\n\"", "01"}) {
    EXPECT_THAT(json_error(text), ::testing::MatchesRegex("t:[12]: column [0-9]+: syntax error .*; expected JSON as "
                                                          "`cableway topology --json` prints it"))
        << text;
  }
}

TEST(JsonTopology, CountsLinesAndColumns) {
  EXPECT_THAT(json_error("{\n\"a\": 1,\n  x}"), StartsWith("t:3: column 3: "));
  EXPECT_THAT(json_error("x"), StartsWith("t:1: column 1: "));
  EXPECT_THAT(json_error("[1,\n"), StartsWith("t:2: column 1: "));
}

TEST(JsonTopology, BoundsItsInput) {
  EXPECT_EQ(json_error(std::string(kMaxTopologyFileBytes + 1, ' ')),
            "t: the file has 33554433 bytes; expected at most 33554432");
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxJsonValues; ++i) many += ",0";
  EXPECT_EQ(json_error(many + "]"), "t: there are too many values; expected at most 2097152");
  EXPECT_EQ(json_error(std::string(kMaxJsonDepth + 1, '[')),
            "t: values are nested too deeply; expected at most 8 levels");
  EXPECT_EQ(json_error(std::string(10'000'000, '[')), "t: values are nested too deeply; expected at most 8 levels");
  EXPECT_THAT(json_error(std::string(kMaxJsonDepth, '[')), StartsWith("t:1: column 9: syntax error"));
  std::string nodes = "{\"nodes\": [{\"name\": \"n\"}";
  for (std::size_t i = 0; i < kMaxNodes; ++i) absl::StrAppend(&nodes, ",{\"name\": \"n", i, "\"}");
  EXPECT_EQ(json_error(nodes + "]}"), "t: there are 4097 nodes; expected at most 4096");
}

TEST(JsonTopology, ErrorsStayShort) {
  const std::string long_text(100'000, 'x');
  EXPECT_LT(json_error(long_text).size(), 300U);
  EXPECT_LT(json_error("\"" + long_text).size(), 400U);
  EXPECT_LT(json_error("{\"" + long_text + "\": 1}").size(), 300U);
  EXPECT_LT(json_error("{\"nodes\": [{\"name\": \"" + long_text + "\"}]}").size(), 300U);
  EXPECT_LT(json_error("{\"nodes\": [{\"name\": \"a\", \"relay_port\": " + std::string(1000, '9') + "}]}").size(),
            300U);
}

}  // namespace
}  // namespace cableway::routing
