#include "routing/topology_io/topology_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cableway::routing {
namespace {

constexpr char kToml[] = "[[node]]\nname = \"a\"\n";
constexpr char kJson[] = R"({"nodes": [{"name": "a"}]})";

bool reads(const char* text, const char* file_name) {
  return parse_topology_input(text, file_name).ok();
}

TEST(TopologyInput, SelectsTheFormatByExtension) {
  for (const char* name : {"t.toml", "t.TOML", "t", "/dev/stdin", "/a.json/t", ".json", "dir/.dot", ""}) {
    EXPECT_TRUE(reads(kToml, name)) << name;
    EXPECT_FALSE(reads(kJson, name)) << name;
  }
  for (const char* name : {"t.json", "/a/t.b.json", "t.Json"}) {
    EXPECT_TRUE(reads(kJson, name)) << name;
    EXPECT_FALSE(reads(kToml, name)) << name;
  }
}

TEST(TopologyInput, RefusesUnsupportedExtensions) {
  EXPECT_EQ(parse_topology_input(kToml, "a/t.yaml").status().message(),
            "a/t.yaml:1: unsupported file name extension \".yaml\"; expected .toml or .json");
  EXPECT_FALSE(reads(kToml, "t."));
}

TEST(TopologyInput, SaysWhatToDoWithGraphsOfOtherPrograms) {
  for (const char* name : {"t.dot", "t.gv", "a.toml/t.GV", "t.graphml", "t.xml"}) {
    EXPECT_EQ(parse_topology_input(kToml, name).status().message(),
              std::string(name) +
                  ":1: a Graphviz or GraphML graph is not read; expected .toml or .json: convert it "
                  "with the script in docs/cli.md (man 5 cableway-topology)");
  }
}

TEST(TopologyInput, OnlyASnapshotMayBeDisconnected) {
  EXPECT_TRUE(reads(R"({"nodes": [{"name": "a"}, {"name": "b"}]})", "t.json"));
  EXPECT_FALSE(reads("[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n", "t.toml"));
}

}  // namespace
}  // namespace cableway::routing
