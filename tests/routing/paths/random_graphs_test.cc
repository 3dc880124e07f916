// Compares the algorithms in routing/ on a thousand small random graphs with reference implementations that share no
// code with them (naive_routing.h).
#include "tests/routing/paths/random_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/paths/disjoint_paths.h"
#include "routing/paths/loop_free_paths.h"
#include "routing/paths/max_flow.h"
#include "routing/paths/path_set.h"
#include "routing/paths/route_table.h"
#include "routing/paths/shortest_paths.h"
#include "routing/paths/weak_points.h"
#include "routing/placement/rank_placement.h"
#include "routing/topology/physical_cable.h"
#include "tests/routing/paths/naive_routing.h"
#include "tests/routing/sample_topologies.h"
#include "tests/slow_build.h"

namespace cableway::routing {
namespace {

constexpr std::size_t kNoLimit = 1'000'000;

TEST(RandomGraphs, ShortestPathsAreComplete) {
  std::size_t draining_ways = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = random_topology(seed, 8, 14);
    const auto distance = naive_distances(topology);
    for (const auto& [from, to] : all_pairs(topology)) {
      const ShortestPaths shortest = shortest_paths_from(topology, from);
      std::vector<Path> expected = naive_paths(topology, from, to);
      const auto is_longer = [&](const Path& path) {
        return naive_cost(topology, path) != naive_cost(topology, expected.front());
      };
      expected.erase(std::find_if(expected.begin(), expected.end(), is_longer), expected.end());
      std::vector<Path> found = ranked_shortest_paths(shortest, to, kNoLimit);
      for (const Path& path : found) expect_proper(topology, path, from, to);
      std::sort(found.begin(), found.end());
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(found, expected);
      ASSERT_EQ(shortest.reaches(to), distance[from.value][to.value].has_value());
      if (shortest.reaches(to)) {
        ASSERT_EQ(shortest.cost_to(to), distance[from.value][to.value]);
      }
      draining_ways += shortest.reaches(to) && (topology.node(from).draining || topology.node(to).draining) ? 1 : 0;
    }
  }
  EXPECT_GT(draining_ways, test::cases_here(1000U));
}

TEST(RandomGraphs, LoopFreePathsAreTheBestOfAllPaths) {
  std::size_t longer_ones = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = random_topology(seed, 7, 12);
    for (const auto& [from, to] : all_pairs(topology)) {
      if (to < from) continue;  // the other direction is compared below
      const std::vector<Path> all = naive_paths(topology, from, to);
      for (const std::size_t count : {std::size_t{5}, all.size() + 1}) {
        const std::vector<Path> found = loop_free_paths(topology, from, to, count);
        const std::size_t expected = std::min({count, all.size(), kMaxLoopFreePaths});
        ASSERT_EQ(found, std::vector<Path>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(expected)));
        std::vector<Path> back = loop_free_paths(topology, to, from, count);
        for (Path& path : back) path = reversed(std::move(path));
        ASSERT_EQ(back, found);
        if (!found.empty()) longer_ones += found.back().hops() > found.front().hops() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(longer_ones, test::cases_here(5000U));
}

// Neither disjoint paths nor the naive cut know of roots; root_capacity_test.cc has those.
Topology without_roots(const Topology& topology) {
  std::vector<Node> nodes(topology.nodes().begin(), topology.nodes().end());
  std::vector<Cable> cables(topology.cables().begin(), topology.cables().end());
  for (Node& node : nodes) node.roots.clear();
  for (Cable& cable : cables) cable.a.root = cable.b.root = "";
  return *Topology::create(topology.cluster(), std::move(nodes), std::move(cables));
}

TEST(RandomGraphs, DisjointPathsAreMaximalAndCheapest) {
  std::size_t with_choice = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = random_topology(seed, 7, 11);
    const NaiveHardware hardware = naive_hardware(topology);
    const NodeIndex from{static_cast<std::uint32_t>(seed % topology.node_count())};
    const NodeIndex to{static_cast<std::uint32_t>(topology.node_count() - 1)};
    const std::vector<DisjointPath> found = disjoint_paths(topology, from, to);
    const NaiveDisjoint expected = naive_disjoint(topology, from, to);
    ASSERT_EQ(found.size(), expected.count);

    PathCost sum;
    std::uint64_t rate = 0;
    std::set<std::string> used;
    for (const DisjointPath& disjoint : found) {
      expect_proper(topology, disjoint.path, from, to);
      sum.hops += naive_cost(topology, disjoint.path).hops;
      sum.latency_ns += naive_cost(topology, disjoint.path).latency_ns;
      rate += disjoint.rate_mbps;
      std::set<std::string> uses;
      for (const CableIndex cable : disjoint.path.cables) {
        uses.insert({hardware.wire[cable.value], hardware.connector_a[cable.value], hardware.connector_b[cable.value]});
        EXPECT_LE(disjoint.rate_mbps, topology.cable(cable).rate_mbps);
      }
      for (const std::string& thing : uses) EXPECT_TRUE(used.insert(thing).second) << thing << " is used twice";
    }
    EXPECT_EQ(sum, expected.cost);
    EXPECT_LE(rate, max_flow_mbps(without_roots(topology), from, to));
    std::vector<DisjointPath> back = disjoint_paths(topology, to, from);
    for (DisjointPath& disjoint : back) disjoint.path = reversed(std::move(disjoint.path));
    EXPECT_EQ(back, found);
    with_choice += found.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(with_choice, test::cases_here(200U));
}

TEST(RandomGraphs, MaxFlowEqualsTheMinimumCut) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = without_roots(random_topology(seed, 6, 10));
    const NodeIndex from{0};
    const NodeIndex to{static_cast<std::uint32_t>(topology.node_count() - 1)};
    const std::uint64_t found = max_flow_mbps(topology, from, to);
    EXPECT_EQ(found, naive_min_cut_mbps(topology, from, to));
    EXPECT_EQ(found, max_flow_mbps(topology, to, from));
  }
}

TEST(RandomGraphs, SharedRootsAreThoseThatLimitTheirPorts) {
  std::size_t shared = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = random_topology(seed, 6, 20);
    const PhysicalCables physical = physical_cables(topology);
    std::vector<std::string> roots;
    for (std::size_t i = 0; i < physical.roots.size(); ++i) {
      const SharedRoot& root = physical.roots[i];
      std::vector<std::string> cables;
      for (const CableIndex cable : root.cables) {
        cables.push_back(topology.cable(cable).name);
        const CableRoots& ends = physical.roots_of_cable[cable.value];
        EXPECT_EQ(topology.cable(cable).a.node == root.node ? ends.at_a : ends.at_b, i);
      }
      roots.push_back(absl::StrCat(root_name(topology, root), ": ", absl::StrJoin(cables, " "), ", ", root.rate_mbps));
    }
    std::sort(roots.begin(), roots.end());
    EXPECT_EQ(roots, naive_roots(topology));
    shared += roots.size();
  }
  EXPECT_GT(shared, test::cases_here(500U));
}

TEST(RandomGraphs, WeakPointsDisconnectTheGraph) {
  std::size_t weak_nodes = 0;
  std::size_t weak_cables = 0;
  std::size_t weak_connectors = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = random_topology(seed, 9, 12);
    const PhysicalCables physical = physical_cables(topology);
    const NaiveHardware hardware = naive_hardware(topology);
    const WeakPoints found = weak_points(topology, physical);
    EXPECT_EQ(found.nodes, naive_weak_nodes(topology));
    std::vector<std::string> wires;
    for (const std::size_t place : found.cables) {
      wires.push_back(hardware.wire[physical.cables[place].cables.front().value]);
    }
    std::sort(wires.begin(), wires.end());
    EXPECT_EQ(wires, naive_weak_wires(topology));
    std::vector<std::string> connectors;
    for (const std::size_t place : found.connectors) {
      const SharedConnector& connector = physical.connectors[place];
      const CableIndex cable = physical.cables[connector.physical_cables.front()].cables.front();
      const bool is_at_a = topology.cable(cable).a.node == connector.node;
      connectors.push_back((is_at_a ? hardware.connector_a : hardware.connector_b)[cable.value]);
    }
    std::sort(connectors.begin(), connectors.end());
    EXPECT_EQ(connectors, naive_weak_connectors(topology));
    weak_nodes += found.nodes.size();
    weak_cables += found.cables.size();
    weak_connectors += found.connectors.size();
  }
  EXPECT_GT(weak_nodes, test::cases_here(500U));
  EXPECT_GT(weak_cables, test::cases_here(500U));
  EXPECT_GT(weak_connectors, test::cases_here(100U));
}

TEST(RandomGraphs, PlacementsAreOptimal) {
  std::size_t with_relays = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = random_topology(seed, 9, 20);
    std::mt19937_64 random(seed);
    std::vector<NodeIndex> job;
    for (std::uint32_t i = 0; i < topology.node_count() && job.size() < 7; ++i) {
      if (i == 0 || random() % 4 != 0) job.push_back(NodeIndex{i});
    }
    std::shuffle(job.begin(), job.end(), random);
    const auto found = place_ranks(topology, job);
    const std::optional<NaiveRing> expected = naive_best_ring(topology, job);
    ASSERT_EQ(found.ok(), expected.has_value()) << found.status();
    if (!expected) continue;
    ASSERT_TRUE(placement_cost(topology, job).ok());
    EXPECT_EQ(found->cost, (PlacementCost{expected->relays, expected->latency_ns}));
    EXPECT_TRUE(found->is_best);
    EXPECT_EQ(*placement_cost(topology, found->order), found->cost);
    EXPECT_GE(*placement_cost(topology, job), found->cost);
    EXPECT_TRUE(std::is_permutation(job.begin(), job.end(), found->order.begin(), found->order.end()));
    EXPECT_EQ(found->order.front(), *std::min_element(job.begin(), job.end()));
    with_relays += found->cost.relays > 0 ? 1 : 0;
  }
  EXPECT_GT(with_relays, test::cases_here(100U));
}

TEST(RandomGraphs, ResultsDoNotDependOnInputOrder) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    const GraphParts parts = random_parts(seed, 8, 14);
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> place(parts.nodes.size());
    for (std::uint32_t i = 0; i < place.size(); ++i) place[i] = i;
    std::shuffle(place.begin(), place.end(), random);
    GraphParts dealt = parts;
    for (std::size_t i = 0; i < place.size(); ++i) dealt.nodes[place[i]] = parts.nodes[i];
    for (Cable& cable : dealt.cables) {
      cable.a.node.value = place[cable.a.node.value];
      cable.b.node.value = place[cable.b.node.value];
      if (random() % 2 == 0) std::swap(cable.a, cable.b);
    }
    std::shuffle(dealt.cables.begin(), dealt.cables.end(), random);
    for (Node& node : dealt.nodes) {
      std::shuffle(node.plugs.begin(), node.plugs.end(), random);
      std::shuffle(node.roots.begin(), node.roots.end(), random);
    }

    const Topology topology = make_topology(parts.nodes, parts.cables);
    const Topology again = make_topology(dealt.nodes, dealt.cables);
    ASSERT_EQ(topology, again);
    const PhysicalCables physical = physical_cables(topology);
    EXPECT_EQ(physical, physical_cables(again));
    EXPECT_EQ(weak_points(topology, physical), weak_points(again, physical));
    const NodeIndex last{static_cast<std::uint32_t>(topology.node_count() - 1)};
    EXPECT_EQ(compute_routes(topology, NodeIndex{0}), compute_routes(again, NodeIndex{0}));
    EXPECT_EQ(loop_free_paths(topology, NodeIndex{0}, last, 8), loop_free_paths(again, NodeIndex{0}, last, 8));
    EXPECT_EQ(disjoint_paths(topology, NodeIndex{0}, last), disjoint_paths(again, NodeIndex{0}, last));
  }
}

}  // namespace
}  // namespace cableway::routing
