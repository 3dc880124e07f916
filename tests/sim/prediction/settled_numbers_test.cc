// Where the flows of a long job settle, and what that does to a prediction.
#include "sim/prediction/settled_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/flow/striping.h"
#include "routing/shapes/topology_generator.h"
#include "sim/prediction/prediction.h"
#include "sim/workload/workload_text.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::sim {
namespace {

using routing::CableIndex;
using routing::NodeIndex;
using routing::Topology;

constexpr std::uint64_t kOneMiB = std::uint64_t{1} << 20;

//   n0 -c0- n1
//   |        |
//   c3      c1
//   |        |
//   n3 -c2- n2
const Topology& ring_of_four() {
  static const Topology ring = routing::sample_topology(4, routing::ring_pairs(4));
  return ring;
}

FlowDemand demand(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes, bool may_move = true) {
  return {NodeIndex{source}, NodeIndex{destination}, bytes, may_move};
}

// MiB by cable and direction (true: from its a), of the flows' first paths.
std::map<std::pair<std::uint32_t, bool>, std::uint64_t> loads(const Topology& topology,
                                                              const std::vector<FlowDemand>& flows,
                                                              const std::vector<std::uint64_t>& numbers) {
  PathChooser paths(topology);
  std::map<std::pair<std::uint32_t, bool>, std::uint64_t> loads;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const routing::Path path =
        paths.paths(flows[i].source, flows[i].destination, numbers[i], CircuitShare::kAlternate).front().path;
    for (std::size_t hop = 0; hop < path.hops(); ++hop) {
      const bool from_a = topology.cable(path.cables[hop]).a.node == path.nodes[hop];
      loads[{path.cables[hop].value, from_a}] += flows[i].bytes / kOneMiB;
    }
  }
  return loads;
}

// The flows of a double tree over four ranks: 0-2, 2-1, 2-3 and 3-1, 1-2, 1-0, on two channels each.
std::vector<FlowDemand> double_tree() {
  std::vector<FlowDemand> flows;
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> edges = {{0, 2}, {2, 1}, {2, 3}, {3, 1}, {1, 2}, {1, 0}};
  for (const auto& [a, b] : edges) {
    for (int channel = 0; channel < 2; ++channel) {
      flows.push_back(demand(a, b, kOneMiB));
      flows.push_back(demand(b, a, kOneMiB));
    }
  }
  return flows;
}

std::vector<std::uint64_t> as_set_up(const std::vector<FlowDemand>& flows) {
  std::vector<std::uint64_t> numbers;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counted;
  for (const FlowDemand& flow : flows) numbers.push_back(counted[{flow.source.value, flow.destination.value}]++);
  return numbers;
}

TEST(SettledNumbers, FlowsOfOppositeNodesLeaveTheWayOfTheirNeighbours) {
  const std::vector<FlowDemand> flows = double_tree();
  const auto most = [](const auto& loads) {
    return std::max_element(loads.begin(), loads.end(),
                            [](const auto& left, const auto& right) { return left.second < right.second; })
        ->second;
  };
  EXPECT_EQ(most(loads(ring_of_four(), flows, as_set_up(flows))), 6U) << "as they are set up: spread over both ways";
  PathChooser paths(ring_of_four());
  const auto settled = loads(ring_of_four(), flows, settled_numbers(ring_of_four(), paths, flows));
  for (std::uint32_t cable = 0; cable < 4; ++cable) {
    for (const bool from_a : {true, false}) {
      EXPECT_EQ(settled.at({cable, from_a}), 4U) << "c" << cable << (from_a ? " from a" : " from b");
    }
  }
}

TEST(SettledNumbers, NothingMovesWithoutAGain) {
  PathChooser paths(ring_of_four());
  const std::vector<FlowDemand> even = {demand(0, 2, kOneMiB), demand(0, 2, kOneMiB), demand(0, 1, kOneMiB),
                                        demand(0, 3, kOneMiB)};
  EXPECT_EQ(settled_numbers(ring_of_four(), paths, even), (std::vector<std::uint64_t>{0, 1, 0, 0}));
  std::vector<FlowDemand> small = double_tree();
  for (FlowDemand& flow : small) flow.may_move = false;
  EXPECT_EQ(settled_numbers(ring_of_four(), paths, small), as_set_up(small));
  EXPECT_EQ(settled_numbers(ring_of_four(), paths, {}), std::vector<std::uint64_t>());
  const std::vector<FlowDemand> nothing = {demand(0, 2, 0), demand(0, 2, 0)};
  EXPECT_EQ(settled_numbers(ring_of_four(), paths, nothing), (std::vector<std::uint64_t>{0, 1}));
}

// A flow on both functions of a wire counts half on each.
TEST(SettledNumbers, ABundleIsOnePath) {
  const absl::StatusOr<Topology> sparks = routing::generate_topology("sparks:4");
  ASSERT_TRUE(sparks.ok());
  PathChooser paths(*sparks);
  std::vector<FlowDemand> flows = {demand(0, 2, kOneMiB), demand(0, 2, kOneMiB)};
  const std::vector<std::uint64_t> apart = settled_numbers(*sparks, paths, flows);
  const auto second_node = [&](std::uint64_t number) {
    return paths.paths(NodeIndex{0}, NodeIndex{2}, number, CircuitShare::kAlternate).front().path.nodes[1];
  };
  EXPECT_NE(second_node(apart[0]), second_node(apart[1]));
}

double seconds(const Topology& topology, const std::string& text, bool settled) {
  const workload::SizedWorkload sized = *workload::parse_workload(text);
  PredictionRequest request;
  request.workload = sized.workload;
  request.size = sized.size;
  request.channels = 4;
  request.circuits.shares = CircuitShare::kAlternate;
  request.circuits.chunk_bytes = static_cast<std::uint32_t>(Striping{}.chunk_bytes);
  request.settled = settled;
  for (std::uint32_t node = 0; node < topology.node_count(); ++node) request.ranks.push_back(NodeIndex{node});
  const absl::StatusOr<Prediction> prediction = predict(topology, request);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return prediction.ok() ? prediction->time_s : 0;
}

TEST(SettledNumbers, ATreeOnARingOfFourGainsAndARingStays) {
  const absl::StatusOr<Topology> ring = routing::generate_topology("ring:4@200Gbit/s,5us");
  ASSERT_TRUE(ring.ok());
  EXPECT_LT(seconds(*ring, "all_reduce:4MiB,tree", true), 0.9 * seconds(*ring, "all_reduce:4MiB,tree", false));
  EXPECT_DOUBLE_EQ(seconds(*ring, "all_reduce:4MiB,ring", true), seconds(*ring, "all_reduce:4MiB,ring", false));
}

}  // namespace
}  // namespace cableway::sim
