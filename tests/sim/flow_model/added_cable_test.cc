#include "sim/flow_model/added_cable.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "routing/shapes/topology_generator.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

using routing::NodeIndex;
using routing::Topology;

AddedCableReport added_to(const Topology& topology, const AddedCableSettings& settings = {}) {
  absl::StatusOr<AddedCableReport> report = find_best_added_cable(topology, settings);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : AddedCableReport{};
}

TEST(AddedCableTest, ALineIsBestClosedToARing) {
  const AddedCableReport report = added_to(routing::sample_topology(4, routing::line_pairs(4)));
  EXPECT_EQ(report.candidates, 3U);
  ASSERT_EQ(report.best.size(), 3U);
  EXPECT_EQ(report.best[0].a, NodeIndex{0});
  EXPECT_EQ(report.best[0].b, NodeIndex{3});
  EXPECT_DOUBLE_EQ(report.intact.least_rate, 1.25e9 / 4);
  EXPECT_DOUBLE_EQ(report.best[0].shares.least_rate, 1.25e9 / 2);
  EXPECT_DOUBLE_EQ(report.best[1].shares.least_rate, 1.25e9 / 3);
}

TEST(AddedCableTest, CablesThatJoinComponentsComeFirst) {
  // A ring of four and an isolated fifth node.
  routing::Pairs pairs = routing::ring_pairs(4);
  const AddedCableReport report = added_to(routing::sample_topology(5, pairs));
  EXPECT_EQ(report.candidates, 6U);
  EXPECT_EQ(report.intact.pairs_cut, 8U);
  EXPECT_EQ(report.best[0].shares.pairs_cut, 0U);
  EXPECT_EQ(report.best[0].b, NodeIndex{4});
  EXPECT_EQ(report.best.back().shares.pairs_cut, 8U);
}

TEST(AddedCableTest, AFullMeshHasNoCandidates) {
  const AddedCableReport report = added_to(routing::sample_topology(4, routing::mesh_pairs(4)));
  EXPECT_EQ(report.candidates, 0U);
  EXPECT_TRUE(report.best.empty());
}

TEST(AddedCableTest, ReturnsAtMostTheRequestedNumber) {
  const Topology ring = routing::sample_topology(6, routing::ring_pairs(6));
  EXPECT_EQ(added_to(ring).best.size(), 9U);
  EXPECT_EQ(added_to(ring, {.rate_mbps = {}, .most = 2}).best.size(), 2U);
}

TEST(AddedCableTest, UsesTheMostCommonOrTheGivenRate) {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2),
                                        routing::sample_cable(2, 2, 3)};
  cables[0].rate_mbps = 40'000;
  cables[1].rate_mbps = cables[2].rate_mbps = 2500;
  const Topology line = routing::make_topology(routing::sample_nodes(4), cables);
  EXPECT_EQ(added_to(line).rate_mbps, 2500U);
  EXPECT_EQ(added_to(line, {.rate_mbps = 100'000}).rate_mbps, 100'000U);
  EXPECT_GT(added_to(line, {.rate_mbps = 100'000}).best[0].shares.total_rate, added_to(line).best[0].shares.total_rate);
}

TEST(AddedCableTest, AvoidsUsedCableNames) {
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 1, 2)};
  cables[0].name = "added";
  cables[1].name = "added.";
  EXPECT_EQ(added_to(routing::make_topology(routing::sample_nodes(3), cables)).candidates, 1U);
}

// Both PCIe links of every host are full: the nodes that get the cable have no capacity for it.
TEST(AddedCableTest, AHostGetsNoFurtherRoot) {
  const AddedCableReport sparks = added_to(*routing::generate_topology("sparks:4"));
  EXPECT_EQ(sparks.rate_mbps, 196'600U);
  EXPECT_FALSE(helps(sparks));
  ASSERT_EQ(sparks.best.size(), 2U);
  for (const AddedCable& added : sparks.best) {
    EXPECT_EQ(added.functions, 2U);
    EXPECT_TRUE(added.behind_roots);
    EXPECT_NEAR(added.shares.total_rate, 73.72e9, 0.01e9);
    EXPECT_NEAR(added.shares.total_rate, sparks.intact.total_rate, 1);
    EXPECT_NEAR(added.shares.least_rate, sparks.intact.least_rate, 1);
  }
  EXPECT_TRUE(helps(added_to(routing::sample_topology(4, routing::ring_pairs(4)))));
}

// The hosts at the ends of a line have room: as a ring of three, each fills both links with two neighbours.
TEST(AddedCableTest, ASplitPlugFillsBothRoots) {
  const Topology ring = *routing::generate_topology("sparks:3");
  std::vector<routing::Cable> line(ring.cables().begin(), ring.cables().end());
  std::erase_if(line, [](const routing::Cable& cable) { return cable.name == "c4" || cable.name == "c5"; });
  const AddedCableReport report =
      added_to(routing::make_topology({ring.nodes().begin(), ring.nodes().end()}, std::move(line)));
  ASSERT_EQ(report.best.size(), 1U);
  EXPECT_TRUE(helps(report));
  EXPECT_DOUBLE_EQ(report.best[0].shares.least_rate, 98.3e9 / 8);
}

TEST(AddedCableTest, TakesTheRootWithTheFewestCablesAndItsRate) {
  // Node 0 has two cables behind r0 and one behind r1; the others have no roots.
  std::vector<routing::Cable> cables = {routing::sample_cable(0, 0, 1), routing::sample_cable(1, 0, 2),
                                        routing::sample_cable(2, 0, 3), routing::sample_cable(3, 3, 4)};
  cables[0].a.root = cables[1].a.root = "r0";
  cables[2].a.root = "r1";
  cables[2].rate_mbps = 8000;
  std::vector<routing::Node> nodes = routing::sample_nodes(5);
  nodes[0].roots = {{"r0", 40'000}, {"r1", 8000}};
  const auto to_node_4 = [&] {
    const AddedCableReport report = added_to(routing::make_topology(nodes, cables));
    for (const AddedCable& added : report.best) {
      if (added.a == NodeIndex{0} && added.b == NodeIndex{4}) return added;
    }
    ADD_FAILURE();
    return AddedCable{};
  };
  const AddedCable behind_r1 = to_node_4();
  EXPECT_TRUE(behind_r1.behind_roots);
  EXPECT_EQ(behind_r1.functions, 1U);
  nodes[0].roots[1].rate_mbps = 40'000;
  const AddedCable wider = to_node_4();
  EXPECT_GT(wider.shares.total_rate, behind_r1.shares.total_rate);
  // One port whose root is not known: the new one is behind none.
  cables[0].a.root = "";
  EXPECT_FALSE(to_node_4().behind_roots);
}

TEST(AddedCableTest, ReportsErrors) {
  const Topology line = routing::sample_topology(3, routing::line_pairs(3));
  const absl::Status status = find_best_added_cable(line, {.rate_mbps = 0}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("rate_mbps"));
  EXPECT_FALSE(find_best_added_cable(line, {.rate_mbps = {}, .latency_us = -1}).ok());
}

TEST(AddedCableTest, RanksByCutPairsThenSlowestThenTotal) {
  const AllToAllShares base{.pairs = 10, .pairs_cut = 2, .least_rate = 100, .total_rate = 1000, .hottest = {}};
  const auto with = [&](std::uint64_t cut, double least, double total) {
    AllToAllShares shares = base;
    shares.pairs_cut = cut;
    shares.least_rate = least;
    shares.total_rate = total;
    return shares;
  };
  EXPECT_TRUE(is_better(with(1, 1, 1), base));
  EXPECT_TRUE(is_better(with(2, 101, 1), base));
  EXPECT_TRUE(is_better(with(2, 100, 1001), base));
  EXPECT_FALSE(is_better(base, base));
  EXPECT_FALSE(is_better(with(2, 99, 9999), base));
}

}  // namespace
}  // namespace cableway::sim
