#include "sim/flow_model/tree_packing.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

std::vector<WeightedEdge> edges_of(const routing::Pairs& pairs, std::uint64_t capacity = 1) {
  std::vector<WeightedEdge> edges;
  edges.reserve(pairs.size());
  for (const auto& [a, b] : pairs) edges.push_back({a, b, capacity});
  return edges;
}

double strength_of(std::size_t vertices, const std::vector<WeightedEdge>& edges) {
  return graph_strength(vertices, edges).value();
}

TEST(TreePackingTest, KnownShapes) {
  EXPECT_DOUBLE_EQ(strength_of(2, edges_of({{0, 1}}, 7)), 7);
  EXPECT_DOUBLE_EQ(strength_of(5, edges_of(routing::line_pairs(5), 3)), 3);
  EXPECT_DOUBLE_EQ(strength_of(9, edges_of(routing::star_pairs(8), 3)), 3);
  // A ring of n has n edges, a tree n - 1: each edge is left out by one tree of n.
  EXPECT_DOUBLE_EQ(strength_of(4, edges_of(routing::ring_pairs(4), 6)), 8);
  EXPECT_DOUBLE_EQ(strength_of(7, edges_of(routing::ring_pairs(7), 6)), 7);
  // A full mesh of n: n * (n - 1) / 2 edges.
  EXPECT_DOUBLE_EQ(strength_of(6, edges_of(routing::mesh_pairs(6))), 3);
  EXPECT_DOUBLE_EQ(strength_of(16, edges_of(routing::torus_pairs(4, 4))), 32. / 15);
}

TEST(TreePackingTest, TheWeakestPartitionMayHaveLargeParts) {
  // Two full meshes of four, joined by one cable: all trees cross it.
  routing::Pairs pairs = routing::mesh_pairs(4);
  for (const auto& [a, b] : routing::mesh_pairs(4)) pairs.emplace_back(a + 4, b + 4);
  pairs.emplace_back(0, 4);
  const GraphStrength strength = graph_strength(8, edges_of(pairs, 5));
  EXPECT_EQ(strength.crossing, 5U);
  EXPECT_EQ(strength.parts, 2U);
}

TEST(TreePackingTest, ADisconnectedGraphHasNoStrength) {
  EXPECT_EQ(strength_of(3, edges_of({{0, 1}})), 0);
  EXPECT_EQ(strength_of(2, {}), 0);
}

// Enumerates all partitions of the vertices: part[v] is at most one more than the parts before it.
double weakest_of_all(std::vector<std::uint32_t>& part, std::size_t vertices, const std::vector<WeightedEdge>& edges) {
  if (part.size() == vertices) {
    const std::size_t parts = std::set(part.begin(), part.end()).size();
    if (parts < 2) return std::numeric_limits<double>::infinity();
    double crossing = 0;
    for (const WeightedEdge& edge : edges) {
      if (part[edge.a] != part[edge.b]) crossing += static_cast<double>(edge.capacity);
    }
    return crossing / static_cast<double>(parts - 1);
  }
  const std::uint32_t fresh = part.empty() ? 0 : *std::max_element(part.begin(), part.end()) + 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t choice = 0; choice <= fresh; ++choice) {
    part.push_back(choice);
    least = std::min(least, weakest_of_all(part, vertices, edges));
    part.pop_back();
  }
  return least;
}

TEST(TreePackingTest, AgreesWithTheWeakestOfAllPartitionsOnRandomGraphs) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t vertices = 2 + random() % 6;
    std::vector<WeightedEdge> edges;
    for (std::uint32_t a = 0; a < vertices; ++a) {
      for (std::uint32_t b = a + 1; b < vertices; ++b) {
        if (random() % 3 != 0) edges.push_back({a, b, 1 + random() % 9});
        if (random() % 8 == 0) edges.push_back({b, a, 1 + random() % 9});
      }
    }
    std::vector<std::uint32_t> part;
    ASSERT_DOUBLE_EQ(strength_of(vertices, edges), weakest_of_all(part, vertices, edges)) << "round " << round;
  }
}

}  // namespace
}  // namespace cableway::sim
