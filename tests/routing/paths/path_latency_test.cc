#include "routing/paths/path_latency.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

Topology line(std::optional<double> first, std::optional<double> second) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2)};
  cables[0].latency_us = first;
  cables[1].latency_us = second;
  return make_topology(sample_nodes(3), cables);
}

const Path kBothCables{{CableIndex{0}, CableIndex{1}}, {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}}};

TEST(PathLatency, IsTheSumOverTheCables) {
  EXPECT_EQ(path_latency_us(line(1.5, 2), kBothCables), 3.5);
  EXPECT_EQ(path_latency_us(line(0, 0.25), kBothCables), 0.25);
}

TEST(PathLatency, IsNotKnownIfThatOfACableIsNot) {
  EXPECT_EQ(path_latency_us(line(std::nullopt, 2), kBothCables), std::nullopt);
  EXPECT_EQ(path_latency_us(line(1.5, std::nullopt), kBothCables), std::nullopt);
  const Path second{{CableIndex{1}}, {NodeIndex{1}, NodeIndex{2}}};
  EXPECT_EQ(path_latency_us(line(std::nullopt, 2), second), 2);
}

TEST(PathLatency, OfANodeToItselfIsZero) {
  EXPECT_EQ(path_latency_us(line(std::nullopt, std::nullopt), Path{{}, {NodeIndex{1}}}), 0);
}

}  // namespace
}  // namespace cableway::routing
