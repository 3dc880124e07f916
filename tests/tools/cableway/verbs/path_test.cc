#include "tools/cableway/verbs/path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/routing/sample_topologies.h"

namespace cableway::cli {
namespace {

using routing::NodeIndex;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A ring of four whose first cable has interface names and is slow. The latency of c1 is not known.
const routing::Topology& ring() {
  static const routing::Topology topology = [] {
    std::vector<routing::Cable> cables;
    for (const auto& [a, b] : routing::ring_pairs(4)) {
      cables.push_back(routing::sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
    }
    cables[0].a.interface = "eth1";
    cables[0].b.interface = "eth0";
    cables[0].rate_mbps = 1000;
    cables[0].latency_us = 1.5;
    cables[2].latency_us = 2;
    cables[3].latency_us = 0.25;
    return routing::make_topology(routing::sample_nodes(4), cables);
  }();
  return topology;
}

TEST(PathView, ListsEveryPathCableByCable) {
  EXPECT_EQ(*path_text(ring(), {NodeIndex{0}, NodeIndex{2}, {}}),
            R"(from n0 to n2: 2 hops, 2 paths

path 1, 1 Gbit/s, latency -, of flow 0
  hop  cable  from     address   to       address        rate   us
    1  c0     n0 eth1  10.0.0.1  n1 eth0  10.0.0.2   1 Gbit/s  1.5
    2  c1     n1       10.0.1.1  n2       10.0.1.2  10 Gbit/s    -

path 2, 10 Gbit/s, 2.25 us
  hop  cable  from  address   to  address        rate    us
    1  c3     n0    10.0.3.2  n3  10.0.3.1  10 Gbit/s  0.25
    2  c2     n3    10.0.2.2  n2  10.0.2.1  10 Gbit/s     2
)");
}

TEST(PathView, ShowsOnlyThePathOfAFlow) {
  EXPECT_THAT(*path_text(ring(), {NodeIndex{0}, NodeIndex{2}, 1}),
              AllOf(HasSubstr("2 paths\n\npath 2, 10 Gbit/s, 2.25 us, of flow 1\n"), Not(HasSubstr("path 1"))));
  EXPECT_THAT(*path_text(ring(), {NodeIndex{0}, NodeIndex{2}, 4}),
              HasSubstr("path 1, 1 Gbit/s, latency -, of flow 4\n"));
}

TEST(PathView, AsJson) {
  const nlohmann::json view = nlohmann::json::parse(*path_json(ring(), {NodeIndex{0}, NodeIndex{1}, 7}));
  EXPECT_EQ(view, nlohmann::json::parse(R"({
    "schema": 1, "from": "n0", "to": "n1", "hops": 1, "flow": 7, "first_path": 0, "paths": [
      {"rank": 0, "weight_mbps": 1000, "latency_us": 1.5, "nodes": ["n0", "n1"], "hops": [
        {"cable": "c0", "from": {"node": "n0", "interface": "eth1", "address": "10.0.0.1"},
         "to": {"node": "n1", "interface": "eth0", "address": "10.0.0.2"}, "rate_mbps": 1000, "latency_us": 1.5}]}]})"));
  const nlohmann::json both = nlohmann::json::parse(*path_json(ring(), {NodeIndex{2}, NodeIndex{0}, {}}));
  EXPECT_EQ(both.at("flow"), nullptr);
  ASSERT_EQ(both.at("paths").size(), 2U);
  EXPECT_EQ(both.at("paths").at(0).at("latency_us"), nullptr) << "that of c1 is not known";
  EXPECT_EQ(both.at("paths").at(0).at("hops").at(0).at("latency_us"), nullptr);
  EXPECT_EQ(both.at("paths").at(1).at("latency_us"), 2.25);
}

TEST(PathView, WithinANodeCrossesNoCable) {
  EXPECT_EQ(*path_text(ring(), {NodeIndex{1}, NodeIndex{1}, {}}), "flows within node n1 cross no cable\n");
  const nlohmann::json view = nlohmann::json::parse(*path_json(ring(), {NodeIndex{1}, NodeIndex{1}, {}}));
  EXPECT_EQ(
      view.at("paths").at(0),
      nlohmann::json::parse(R"({"rank": 0, "weight_mbps": null, "latency_us": 0.0, "nodes": ["n1"], "hops": []})"));
}

TEST(PathView, ReportsThatThereIsNoPath) {
  const routing::Topology parts = routing::sample_topology(3, {{0, 1}});
  for (const auto& view :
       {path_text(parts, {NodeIndex{0}, NodeIndex{2}, {}}), path_json(parts, {NodeIndex{0}, NodeIndex{2}, {}})}) {
    EXPECT_EQ(view.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(view.status().message()), HasSubstr("no path leads from node n0 to node n2"));
  }
}

}  // namespace
}  // namespace cableway::cli
