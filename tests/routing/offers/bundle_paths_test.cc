#include "routing/offers/bundle_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "routing/paths/route_table.h"
#include "routing/topology/physical_cable.h"
#include "tests/routing/offers/written_offers.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;

// Of flow 0.
std::vector<std::string> bundle(const Topology& topology, std::uint32_t from, std::uint32_t to, std::size_t most = 8) {
  const RouteTable routes = compute_routes(topology, NodeIndex{from});
  const Path first = routes.path_for_flow(NodeIndex{to}, 0);
  std::vector<std::string> lines = {"of " + written(topology, first)};
  for (const Path& path : bundle_paths(topology, physical_cables(topology), routes.parts(), first, most)) {
    lines.push_back(written(topology, path));
  }
  return lines;
}

// n0 =c0,c1= n1 -c2- n2 =c3,c4,c5= n3
TEST(BundlePaths, MayCrossTheSameCableBetweenTheirEnds) {
  const Topology topology = sample_topology(4, {{0, 1}, {0, 1}, {1, 2}, {2, 3}, {2, 3}, {2, 3}});
  EXPECT_THAT(bundle(topology, 0, 3), ElementsAre("of n0 -c0- n1 -c2- n2 -c3- n3", "n0 -c1- n1 -c2- n2 -c4- n3"));
  EXPECT_THAT(bundle(topology, 0, 2), ElementsAre("of n0 -c0- n1 -c2- n2"));
  EXPECT_THAT(bundle(topology, 2, 3), ElementsAre("of n2 -c3- n3", "n2 -c4- n3", "n2 -c5- n3"));
  EXPECT_THAT(bundle(topology, 2, 3, 1), ElementsAre("of n2 -c3- n3", "n2 -c4- n3"));
  EXPECT_THAT(bundle(topology, 1, 1), ElementsAre("of n1"));
}

TEST(BundlePaths, CrossCablesOfLessLatencyFirst) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1), sample_cable(2, 0, 1)};
  cables[1].latency_us = 20'000;
  cables[2].latency_us = 10'000;
  EXPECT_THAT(bundle(make_topology(sample_nodes(2), cables), 0, 1),
              ElementsAre("of n0 -c0- n1", "n0 -c2- n1", "n0 -c1- n1"));
}

// Two ports of each of two nodes, on one switch: four cables, two pairs of ports.
TEST(BundlePaths, UseEachPortOnASwitchOnce) {
  std::vector<Cable> cables;
  for (const std::string left : {"a", "b"}) {
    for (const std::string right : {"c", "d"}) {
      Cable cable = sample_cable(static_cast<std::uint32_t>(cables.size()), 0, 1);
      cable.a = {NodeIndex{0}, left, left == "a" ? "10.9.0.1" : "10.9.0.2"};
      cable.b = {NodeIndex{1}, right, right == "c" ? "10.9.0.3" : "10.9.0.4"};
      cables.push_back(cable);
    }
  }
  EXPECT_THAT(bundle(make_topology(sample_nodes(2), cables), 0, 1), ElementsAre("of n0 -c0- n1", "n0 -c3- n1"));
}

// Two functions of one plug of n0 on wires to two plugs of n1, as a breakout cable whose plug is known.
TEST(BundlePaths, ShareAPlugThatOneFunctionDoesNotFill) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1)};
  for (Cable& cable : cables) cable.a.plug = "p0";
  cables[0].b.plug = "q0";
  cables[1].b.plug = "q1";
  std::vector<Node> nodes = sample_nodes(2);
  EXPECT_THAT(bundle(make_topology(nodes, cables), 0, 1), ElementsAre("of n0 -c0- n1"));
  nodes[0].plugs = {{"p0", 2 * kDefaultRateMbps}};
  EXPECT_THAT(bundle(make_topology(nodes, cables), 0, 1), ElementsAre("of n0 -c0- n1", "n0 -c1- n1"));
}

}  // namespace
}  // namespace cableway::routing
