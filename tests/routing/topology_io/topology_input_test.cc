#include "routing/topology_io/topology_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cableway::routing {
namespace {

constexpr char kToml[] = "[[node]]\nname = \"a\"\n";
constexpr char kJson[] = R"({"nodes": [{"name": "a"}]})";
constexpr char kDot[] = "graph { a }";
constexpr char kGraphml[] = "<graphml><graph><node id='a'/></graph></graphml>";

bool reads(const char* text, const char* file_name) {
  return parse_topology_input(text, file_name).ok();
}

TEST(TopologyInput, SelectsTheFormatByExtension) {
  for (const char* name : {"t.toml", "t.TOML", "t", "/dev/stdin", "/a.json/t", ".json", "dir/.dot", ""}) {
    EXPECT_TRUE(reads(kToml, name)) << name;
    EXPECT_FALSE(reads(kDot, name)) << name;
  }
  for (const char* name : {"t.json", "/a/t.b.json", "t.Json"}) {
    EXPECT_TRUE(reads(kJson, name)) << name;
    EXPECT_FALSE(reads(kToml, name)) << name;
  }
  for (const char* name : {"t.dot", "t.gv", "a.toml/t.GV"}) {
    EXPECT_TRUE(reads(kDot, name)) << name;
    EXPECT_FALSE(reads(kToml, name)) << name;
  }
  for (const char* name : {"t.graphml", "t.xml"}) {
    EXPECT_TRUE(reads(kGraphml, name)) << name;
    EXPECT_FALSE(reads(kToml, name)) << name;
  }
}

TEST(TopologyInput, RefusesUnsupportedExtensions) {
  EXPECT_EQ(parse_topology_input(kToml, "a/t.yaml").status().message(),
            "a/t.yaml:1: unsupported file name extension \".yaml\"; expected .toml, .json, .dot, .gv, .graphml or "
            ".xml");
  EXPECT_FALSE(reads(kToml, "t."));
}

TEST(TopologyInput, OnlyASnapshotMayBeDisconnected) {
  EXPECT_TRUE(reads(R"({"nodes": [{"name": "a"}, {"name": "b"}]})", "t.json"));
  EXPECT_FALSE(reads("[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n", "t.toml"));
  EXPECT_FALSE(reads("graph { a b }", "t.dot"));
  EXPECT_FALSE(reads("<graphml><graph><node id='a'/><node id='b'/></graph></graphml>", "t.xml"));
}

}  // namespace
}  // namespace cableway::routing
