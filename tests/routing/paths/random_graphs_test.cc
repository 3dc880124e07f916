// Compares the algorithms in routing/ on a thousand small random graphs with reference implementations that share no
// code with them (naive_routing.h). The graphs have parallel cables, isolated nodes, equal sums of unequal latencies,
// twins of one wire, switch segments, PCIe roots and draining nodes. The seeds are fixed: a failing graph is the same
// on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
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

constexpr std::uint64_t kGraphs = test::cases_here(1000);
constexpr std::size_t kNoLimit = 1'000'000;

using Random = std::mt19937_64;

std::uint32_t below(Random& random, std::uint64_t bound) {
  return static_cast<std::uint32_t>(random() % bound);
}

struct Parts {
  std::vector<Node> nodes;
  std::vector<Cable> cables;
};

void deal_plugs(std::vector<Cable>& cables, Random& random) {
  for (Cable& cable : cables) {
    if (!cable.a.interface.empty()) continue;  // a port of a segment: all its cables would need the same plug
    if (random() % 2 == 0) cable.a.plug = absl::StrCat("p", below(random, 2));
    if (random() % 2 == 0) cable.b.plug = absl::StrCat("p", below(random, 2));
  }
}

void deal_roots(std::vector<Cable>& cables, Random& random) {
  constexpr const char* kRoots[] = {"", "r0", "r1"};
  for (Cable& cable : cables) {
    for (Port* const port : {&cable.a, &cable.b}) {
      // A port of a segment has one root on all its cables.
      port->root = kRoots[port->interface.empty() ? below(random, 3) : port->node.value % 3];
    }
  }
}

// The rates of some plugs and roots: as fast as their fastest cable, faster, or faster than all together.
void state_rates(Parts& parts, Random& random) {
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> plugs;
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> roots;
  for (const Cable& cable : parts.cables) {
    for (const Port* const port : {&cable.a, &cable.b}) {
      std::uint64_t& of_plug = plugs[{port->node.value, port->plug}];
      std::uint64_t& of_root = roots[{port->node.value, port->root}];
      of_plug = std::max(of_plug, cable.rate_mbps);
      of_root = std::max(of_root, cable.rate_mbps);
    }
  }
  constexpr std::uint64_t kMore[] = {0, 5'000, 1'000'000};
  const auto state = [&](const auto& fastest, auto list) {
    for (const auto& [key, rate] : fastest) {
      const auto& [node, name] = key;
      if (name.empty() || random() % 2 == 0) continue;
      (parts.nodes[node].*list).push_back({name, rate + kMore[below(random, std::size(kMore))]});
    }
  };
  state(plugs, &Node::plugs);
  state(roots, &Node::roots);
}

Parts random_parts(std::uint64_t seed, std::uint32_t max_nodes, std::uint32_t max_cables) {
  Random random(seed);
  Parts parts;
  const std::uint32_t nodes = 1 + below(random, max_nodes);
  parts.nodes = sample_nodes(nodes);
  if (random() % 2 == 0) {
    for (Node& node : parts.nodes) node.draining = random() % 5 == 0;
  }
  if (nodes >= 3 && random() % 3 == 0) parts.cables = switch_segment(100, {0, 1 + below(random, nodes - 2), nodes - 1});
  const std::uint32_t cables = nodes == 1 ? 0 : below(random, max_cables + 1);
  for (std::uint32_t i = 0; i < cables; ++i) {
    const std::uint32_t a = below(random, nodes);
    parts.cables.push_back(sample_cable(i, a, (a + 1 + below(random, nodes - 1)) % nodes));
  }
  constexpr double kLatencies[] = {0, 1, 9999, 10000, 20000, 25000, 50000};
  constexpr std::uint64_t kRates[] = {10'000, 25'000, 100'000};
  const bool has_equal_latencies = random() % 2 == 0;
  for (Cable& cable : parts.cables) {
    if (!has_equal_latencies) cable.latency_us = kLatencies[below(random, std::size(kLatencies))];
    cable.rate_mbps = kRates[below(random, std::size(kRates))];
  }
  if (random() % 2 == 0) deal_plugs(parts.cables, random);
  if (random() % 2 == 0) deal_roots(parts.cables, random);
  if (random() % 2 == 0) state_rates(parts, random);
  return parts;
}

Topology random_topology(std::uint64_t seed, std::uint32_t max_nodes, std::uint32_t max_cables) {
  const Parts parts = random_parts(seed, max_nodes, max_cables);
  return make_topology(parts.nodes, parts.cables);
}

std::vector<std::pair<NodeIndex, NodeIndex>> all_pairs(const Topology& topology) {
  std::vector<std::pair<NodeIndex, NodeIndex>> pairs;
  for (std::uint32_t a = 0; a < topology.node_count(); ++a) {
    for (std::uint32_t b = 0; b < topology.node_count(); ++b) pairs.emplace_back(NodeIndex{a}, NodeIndex{b});
  }
  return pairs;
}

void expect_proper(const Topology& topology, const Path& path, NodeIndex from, NodeIndex to) {
  ASSERT_EQ(path.nodes.size(), path.cables.size() + 1);
  EXPECT_EQ(path.nodes.front(), from);
  EXPECT_EQ(path.nodes.back(), to);
  EXPECT_EQ(std::set<NodeIndex>(path.nodes.begin(), path.nodes.end()).size(), path.nodes.size()) << "a node twice";
  for (std::size_t i = 0; i < path.hops(); ++i) {
    EXPECT_EQ(topology.neighbour_over(path.cables[i], path.nodes[i]), path.nodes[i + 1]);
    EXPECT_TRUE(i == 0 || !topology.node(path.nodes[i]).draining) << "a draining node relays";
  }
}

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
    Random random(seed);
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
    const Parts parts = random_parts(seed, 8, 14);
    Random random(seed);
    std::vector<std::uint32_t> place(parts.nodes.size());
    for (std::uint32_t i = 0; i < place.size(); ++i) place[i] = i;
    std::shuffle(place.begin(), place.end(), random);
    Parts dealt = parts;
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
