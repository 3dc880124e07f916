// A thousand small random graphs: they have parallel cables, isolated nodes, equal sums of unequal latencies, twins of
// one wire, switch segments, PCIe roots and draining nodes. The seeds are fixed: a failing graph is the same on every
// machine.
#ifndef CABLEWAY_TESTS_ROUTING_PATHS_RANDOM_GRAPHS_H_
#define CABLEWAY_TESTS_ROUTING_PATHS_RANDOM_GRAPHS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "routing/paths/path.h"
#include "routing/topology/topology.h"
#include "tests/slow_build.h"

namespace cableway::routing {

inline constexpr std::uint64_t kGraphs = test::cases_here(1000);  // seeds from 0 on

struct GraphParts {
  std::vector<Node> nodes;
  std::vector<Cable> cables;
};
GraphParts random_parts(std::uint64_t seed, std::uint32_t max_nodes, std::uint32_t max_cables);
Topology random_topology(std::uint64_t seed, std::uint32_t max_nodes, std::uint32_t max_cables);

// With the pairs of a node and itself.
std::vector<std::pair<NodeIndex, NodeIndex>> all_pairs(const Topology& topology);

// Expects a path as path.h defines it that no draining node relays.
void expect_proper(const Topology& topology, const Path& path, NodeIndex from, NodeIndex to);

}  // namespace cableway::routing

#endif  // CABLEWAY_TESTS_ROUTING_PATHS_RANDOM_GRAPHS_H_
