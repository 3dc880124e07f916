#include "routing/topology/lossy_cables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "routing/paths/route_table.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> unused(const Topology& topology) {
  std::vector<std::string> names;
  for (const Cable& cable : topology.unused_cables()) names.push_back(cable.name);
  return names;
}

Cable lossy(Cable cable, std::uint8_t percent) {
  cable.loss_percent = percent;
  return cable;
}

// n0 -c0- n1
//   \    /      c1 to n2 from n0, c2 from n1
//    n2
Topology triangle(std::uint8_t first, std::uint8_t second, std::uint8_t third, bool n2_drains = false) {
  std::vector<Node> nodes = sample_nodes(3);
  nodes[2].draining = n2_drains;
  return make_topology(std::move(nodes), {lossy(sample_cable(0, 0, 1), first), lossy(sample_cable(1, 0, 2), second),
                                          lossy(sample_cable(2, 1, 2), third)});
}

TEST(LossyCables, IsNotUsedWhereNodesReachEachOtherWithoutIt) {
  EXPECT_THAT(unused(triangle(0, 0, 0)), IsEmpty());
  EXPECT_THAT(unused(triangle(5, 0, 0)), ElementsAre("c0"));
  EXPECT_THAT(unused(triangle(0, 100, 0)), ElementsAre("c1"));
}

TEST(LossyCables, IsUsedWhereADetourIsNoBetter) {
  EXPECT_THAT(unused(triangle(5, 4, 0)), IsEmpty());
  EXPECT_THAT(unused(triangle(5, 3, 0)), IsEmpty()) << "3 is more than half of 5";
  EXPECT_THAT(unused(triangle(7, 3, 0)), ElementsAre("c0"));
  EXPECT_THAT(unused(triangle(5, 5, 5)), IsEmpty());
}

TEST(LossyCables, IsUsedWhereItIsTheOnlyOne) {
  EXPECT_THAT(unused(make_topology(sample_nodes(2), {lossy(sample_cable(0, 0, 1), 50)})), IsEmpty());
}

TEST(LossyCables, OfTwoParallelOnesTheBetterIsUsed) {
  EXPECT_THAT(
      unused(make_topology(sample_nodes(2), {lossy(sample_cable(0, 0, 1), 20), lossy(sample_cable(1, 0, 1), 5)})),
      ElementsAre("c0"));
}

TEST(LossyCables, NoDetourLeadsThroughANodeThatDrains) {
  EXPECT_THAT(unused(triangle(5, 0, 0, true)), IsEmpty());
  EXPECT_THAT(unused(triangle(0, 5, 0, true)), ElementsAre("c1")) << "n0 reaches n2 through n1";
}

TEST(LossyCables, OneThatDrainsStandsInForNone) {
  std::vector<Cable> cables = {lossy(sample_cable(0, 0, 1), 5), sample_cable(1, 0, 2), sample_cable(2, 1, 2)};
  cables[1].draining = true;
  EXPECT_THAT(unused(make_topology(sample_nodes(3), cables)), ElementsAre("c1"));
}

// Whoever has a path over all cables has one over those in use.
TEST(LossyCables, NobodyLosesTheLastPath) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<std::uint32_t>(2 + random() % 9);
    std::vector<Node> nodes = sample_nodes(count);
    for (Node& node : nodes) node.draining = random() % 5 == 0;
    std::vector<Cable> with_loss;
    std::vector<Cable> without;
    for (std::uint32_t i = 0; i < 2 * count; ++i) {
      const auto a = static_cast<std::uint32_t>(random() % count);
      const auto b = static_cast<std::uint32_t>((a + 1 + random() % (count - 1)) % count);
      Cable cable = sample_cable(i, a, b);
      cable.draining = random() % 8 == 0;
      without.push_back(cable);
      with_loss.push_back(lossy(cable, static_cast<std::uint8_t>(random() % 3 == 0 ? 1 + random() % 100 : 0)));
    }
    const Topology all = make_topology(nodes, without);
    const Topology used = make_topology(nodes, with_loss);
    for (std::uint32_t from = 0; from < count; ++from) {
      const RouteTable before = compute_routes(all, NodeIndex{from});
      const RouteTable after = compute_routes(used, NodeIndex{from});
      for (std::uint32_t to = 0; to < count; ++to) {
        EXPECT_EQ(before.reaches(NodeIndex{to}), after.reaches(NodeIndex{to})) << round << ": " << from << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace cableway::routing
