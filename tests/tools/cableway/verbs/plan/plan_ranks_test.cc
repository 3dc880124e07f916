#include "tools/cableway/verbs/plan/plan_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/routing/sample_topologies.h"

namespace cableway::cli {
namespace {

using routing::NodeIndex;
using ::testing::HasSubstr;

// A ring of slow cables in the order n0 n2 n1 n3.
const routing::Topology& crossed_ring() {
  static const routing::Topology topology = routing::sample_topology(4, {{0, 2}, {2, 1}, {1, 3}, {3, 0}}, 10000);
  return topology;
}

TEST(RankPlan, PutsNeighboursSideBySide) {
  EXPECT_EQ(*rank_plan_text(crossed_ring(), {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}, NodeIndex{3}}),
            R"(hosts    n0,n2,n1,n3
cost     0 relays, latency 40 ms around the ring: no order is better
as given n0,n1,n2,n3: 2 relays, latency 60 ms around the ring

rank  node  to the next
   0  n0    c0
   1  n2    c1
   2  n1    c2
   3  n3    c3
)");
}

TEST(RankPlan, NamesTheRelaysThatCannotBeAvoided) {
  const routing::Topology line = routing::sample_topology(3, routing::line_pairs(3));
  EXPECT_EQ(*rank_plan_text(line, {NodeIndex{2}, NodeIndex{0}}),
            R"(hosts    n0,n2
cost     2 relays, latency - around the ring: no order is better
as given n2,n0: 2 relays, latency - around the ring

rank  node  to the next
   0  n0    through n1
   1  n2    through n1
)");
  EXPECT_THAT(*rank_plan_text(line, {NodeIndex{1}}), HasSubstr("\n   0  n1\n"));
}

TEST(RankPlan, AsJson) {
  const auto text = rank_plan_json(crossed_ring(), {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}, NodeIndex{3}});
  EXPECT_EQ(nlohmann::json::parse(*text), nlohmann::json::parse(R"({
    "schema": 1,
    "planned": {"order": ["n0", "n2", "n1", "n3"], "relays": 0, "latency_us": 40000.0, "proven": true},
    "given": {"order": ["n0", "n1", "n2", "n3"], "relays": 2, "latency_us": 60000.0}})"));
}

// Not the cost of paths, which counts in steps and takes a latency that is not known as 0.
TEST(RankPlan, HasMeasuredLatencies) {
  const std::vector<NodeIndex> hosts{NodeIndex{0}, NodeIndex{1}, NodeIndex{2}};
  const auto latency = [&](std::optional<double> latency_us) {
    const auto text = rank_plan_json(routing::sample_topology(3, routing::ring_pairs(3), latency_us), hosts);
    return nlohmann::json::parse(*text).at("planned").at("latency_us");
  };
  EXPECT_EQ(latency(2.5), 7.5);
  EXPECT_EQ(latency({}), nullptr);
}

TEST(RankPlan, RefusesHostsThatCannotReachEachOtherOrOccurTwice) {
  const routing::Topology parts = routing::sample_topology(3, {{0, 1}});
  EXPECT_EQ(rank_plan_text(parts, {NodeIndex{0}, NodeIndex{2}}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(rank_plan_json(parts, {NodeIndex{0}, NodeIndex{0}}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cableway::cli
