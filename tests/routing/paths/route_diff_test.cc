#include "routing/paths/route_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RouteDiff diff_at(const std::string& self, const Topology& before, const Topology& after) {
  return diff_routes(before, compute_routes(before, node_named(before, self)), after,
                     compute_routes(after, node_named(after, self)));
}

std::vector<Cable> ring_cables(std::uint32_t count) {
  std::vector<Cable> cables;
  for (std::uint32_t i = 0; i < count; ++i) cables.push_back(sample_cable(i, i, (i + 1) % count));
  return cables;
}

TEST(RouteTable, HasAVersionThatIsNoPartOfWhatItSays) {
  const Topology ring = sample_topology(4, ring_pairs(4));
  const RouteTable routes = compute_routes(ring, NodeIndex{0}, 7);
  EXPECT_EQ(routes.version(), 7U);
  EXPECT_EQ(compute_routes(ring, NodeIndex{0}).version(), 0U);
  EXPECT_EQ(routes, compute_routes(ring, NodeIndex{0}, 8));
}

TEST(RouteDiff, IsEmptyWhereNothingChanged) {
  const Topology ring = sample_topology(6, ring_pairs(6));
  EXPECT_TRUE(diff_at("n0", ring, ring).is_empty());
}

TEST(RouteDiff, ALostCableOfARingTurnsRoutesAround) {
  std::vector<Cable> cables = ring_cables(4);
  const Topology before = make_topology(sample_nodes(4), cables);
  cables.erase(cables.begin());  // n0-n1
  const RouteDiff diff = diff_at("n0", before, make_topology(sample_nodes(4), cables));
  EXPECT_THAT(diff.added, IsEmpty());
  EXPECT_THAT(diff.removed, IsEmpty());
  EXPECT_THAT(diff.changed, ElementsAre(RouteChange{"n1", {1, 1000}, {3, 3000}, 1, 1},
                                        RouteChange{"n2", {2, 2000}, {2, 2000}, 2, 1}));
}

TEST(RouteDiff, NamesWhatCameAndWentThoughIndicesMoved) {
  // "a" sorts before n0, so that every index moves; n3 goes.
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2), sample_cable(2, 2, 3)};
  const Topology before = make_topology(sample_nodes(4), cables);
  std::vector<Node> nodes = sample_nodes(4);
  nodes[3].name = "a";
  cables[2] = sample_cable(3, 3, 0);
  const RouteDiff diff = diff_at("n0", before, make_topology(nodes, cables));
  EXPECT_THAT(diff.added, ElementsAre("a"));
  EXPECT_THAT(diff.removed, ElementsAre("n3"));
  EXPECT_THAT(diff.changed, IsEmpty());
}

TEST(RouteDiff, ShowsDrainingAsChange) {
  std::vector<Node> nodes = sample_nodes(4);
  const Topology before = make_topology(nodes, ring_cables(4));
  nodes[1].draining = true;
  const Topology after = make_topology(nodes, ring_cables(4));
  EXPECT_THAT(diff_at("n0", before, after).changed, ElementsAre(RouteChange{"n2", {2, 2000}, {2, 2000}, 2, 1}));
  nodes[3].draining = true;
  EXPECT_THAT(diff_at("n0", before, make_topology(nodes, ring_cables(4))).removed, ElementsAre("n2"));
}

TEST(RouteDiff, SeesWeightsAndNewNamesOfCables) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2)};
  const Topology before = make_topology(sample_nodes(3), cables);
  cables[1].rate_mbps = 1000;
  const Topology slower = make_topology(sample_nodes(3), cables);
  EXPECT_THAT(diff_at("n0", before, slower).changed, ElementsAre(RouteChange{"n2", {2, 2000}, {2, 2000}, 1, 1}));
  cables[1].rate_mbps = kDefaultRateMbps;
  cables[1].name = "renamed";
  const Topology renamed = make_topology(sample_nodes(3), cables);
  EXPECT_THAT(diff_at("n0", before, renamed).changed, ElementsAre(RouteChange{"n2", {2, 2000}, {2, 2000}, 1, 1}));
}

// What diff_routes() finds without listing most paths, found by listing all of them.
std::vector<std::string> plainly_changed(const Topology& before, const Topology& after, const std::string& self) {
  const auto names = [&](const Topology& topology, const Route& route) {
    std::vector<std::string> text;
    for (const RankedPath& ranked : route.paths) {
      for (const CableIndex cable : ranked.path.cables) text.push_back(topology.cable(cable).name);
      for (const NodeIndex node : ranked.path.nodes) text.push_back(topology.node(node).name);
      text.push_back(std::to_string(ranked.weight_mbps));
    }
    return text;
  };
  std::vector<std::string> changed;
  const RouteTable old_routes = compute_routes(before, node_named(before, self));
  const RouteTable new_routes = compute_routes(after, node_named(after, self));
  for (const Node& node : after.nodes()) {
    const std::optional<NodeIndex> old_node = before.find_node(node.name);
    if (!old_node) continue;
    const Route was = old_routes.route_to(*old_node);
    const Route is = new_routes.route_to(node_named(after, node.name));
    if (was.paths.empty() || is.paths.empty()) continue;
    if (was.cost != is.cost || names(before, was) != names(after, is)) changed.push_back(node.name);
  }
  return changed;
}

TEST(RouteDiff, FindsOnRandomGraphsWhatComparingAllPathsFinds) {
  std::mt19937_64 random(31);
  std::size_t changes = 0;
  for (int graph = 0; graph < 300; ++graph) {
    const auto count = static_cast<std::uint32_t>(3 + random() % 12);
    std::vector<Node> nodes = sample_nodes(count);
    std::vector<Cable> cables;
    for (std::uint32_t i = 0; i < 2 * count; ++i) {
      const auto a = static_cast<std::uint32_t>(random() % count);
      cables.push_back(sample_cable(i, a, static_cast<std::uint32_t>((a + 1 + random() % (count - 1)) % count)));
    }
    const Topology before = make_topology(nodes, cables);
    switch (random() % 4) {
      case 0:
        cables.erase(cables.begin() + static_cast<std::ptrdiff_t>(random() % cables.size()));
        break;
      case 1:
        nodes[random() % count].draining = true;
        break;
      case 2:
        cables[random() % cables.size()].rate_mbps = 1;
        break;
      default:
        nodes[1 + random() % (count - 1)].name = "a";  // another node in its place, first of all
    }
    const Topology after = make_topology(nodes, cables);
    const RouteDiff diff = diff_at("n0", before, after);
    std::vector<std::string> changed;
    for (const RouteChange& change : diff.changed) changed.push_back(change.destination);
    ASSERT_EQ(changed, plainly_changed(before, after, "n0")) << "graph " << graph;
    changes += changed.size();
  }
  EXPECT_GT(changes, 300U);
}

}  // namespace
}  // namespace cableway::routing
