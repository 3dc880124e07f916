#include "tests/routing/paths/random_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using Random = std::mt19937_64;

std::uint32_t below(Random& random, std::uint64_t bound) {
  return static_cast<std::uint32_t>(random() % bound);
}

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
void state_rates(GraphParts& parts, Random& random) {
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

}  // namespace

GraphParts random_parts(std::uint64_t seed, std::uint32_t max_nodes, std::uint32_t max_cables) {
  Random random(seed);
  GraphParts parts;
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
  const GraphParts parts = random_parts(seed, max_nodes, max_cables);
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

}  // namespace cableway::routing
