#include "sim/flow_model/cut_network.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace cableway::sim {
namespace {

struct TestArc {
  CutNetwork::Vertex from;
  CutNetwork::Vertex to;
  CutNetwork::Capacity there;
  CutNetwork::Capacity back;
};

CutNetwork network_of(std::size_t vertices, const std::vector<TestArc>& arcs) {
  CutNetwork network(vertices);
  for (const TestArc& arc : arcs) network.add_arc(arc.from, arc.to, arc.there, arc.back);
  return network;
}

CutNetwork::Capacity leaving(std::uint32_t set, const std::vector<TestArc>& arcs) {
  CutNetwork::Capacity sum = 0;
  for (const TestArc& arc : arcs) {
    const bool from = (set >> arc.from & 1U) != 0;
    const bool to = (set >> arc.to & 1U) != 0;
    if (from && !to) sum += arc.there;
    if (to && !from) sum += arc.back;
  }
  return sum;
}

TEST(CutNetworkTest, ALineIsAsWideAsItsNarrowestArc) {
  CutNetwork network = network_of(4, {{0, 1, 5, 0}, {1, 2, 3, 0}, {2, 3, 4, 0}});
  EXPECT_EQ(network.max_flow(0, 3), 3);
  EXPECT_TRUE(network.is_on_source_side(0));
  EXPECT_TRUE(network.is_on_source_side(1));
  EXPECT_FALSE(network.is_on_source_side(2));
  EXPECT_EQ(network.max_flow(3, 0), 0);
}

TEST(CutNetworkTest, StopsAtTheLimit) {
  CutNetwork network = network_of(2, {{0, 1, 5, 0}, {0, 1, 5, 0}});
  EXPECT_EQ(network.max_flow(0, 1, 7), 7);
  EXPECT_EQ(network.max_flow(0, 1), 10);
}

TEST(CutNetworkTest, CapacitiesMayChangeBetweenQueries) {
  CutNetwork network(3);
  const CutNetwork::Arc first = network.add_arc(0, 1, 4);
  const CutNetwork::Arc second = network.add_arc(1, 2, 2, 9);
  EXPECT_EQ(network.max_flow(0, 2), 2);
  network.set_capacity(second, 8);
  EXPECT_EQ(network.max_flow(0, 2), 4);
  EXPECT_EQ(network.max_flow(2, 1), 0);  // the reverse arc lost its capacity
  network.set_capacity(first, 0, 3);
  EXPECT_EQ(network.max_flow(0, 2), 0);
}

TEST(CutNetworkTest, AgreesWithTheSmallestOfAllCutsOnRandomNetworks) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t vertices = 2 + random() % 7;
    std::vector<TestArc> arcs(random() % 20);
    for (TestArc& arc : arcs) {
      arc = {static_cast<std::uint32_t>(random() % vertices), static_cast<std::uint32_t>(random() % vertices),
             static_cast<std::int64_t>(random() % 10), static_cast<std::int64_t>(random() % 3)};
    }
    const std::uint32_t sink = vertices - 1;
    CutNetwork::Capacity least = CutNetwork::kUnlimited;
    for (std::uint32_t set = 1; set < (1U << sink); set += 2) least = std::min(least, leaving(set, arcs));
    CutNetwork network = network_of(vertices, arcs);
    ASSERT_EQ(network.max_flow(0, sink), least) << "round " << round;
    std::uint32_t side = 0;
    for (std::uint32_t v = 0; v < vertices; ++v) side |= network.is_on_source_side(v) ? 1U << v : 0U;
    EXPECT_EQ(side & 1U, 1U);
    EXPECT_EQ(leaving(side, arcs), least);
  }
}

}  // namespace
}  // namespace cableway::sim
