// Reference implementations of the algorithms in routing/, as simple and slow as possible, for small graphs. They share
// no code with routing/; wires and connectors are also derived from the ports independently.
#ifndef CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_ROUTING_H_
#define CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_ROUTING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routing/paths/path.h"
#include "routing/topology/topology.h"

namespace cableway::routing {

PathCost naive_cost(const Topology& topology, const Path& path);

// All loop-free paths that cross no draining node, found depth first; sorted by cost, then by cables.
std::vector<Path> naive_paths(const Topology& topology, NodeIndex from, NodeIndex to);

// The distances between all nodes (Floyd-Warshall); nullopt if there is no path.
std::vector<std::vector<std::optional<PathCost>>> naive_distances(const Topology& topology);

// The wire of each cable, and the connectors at its two ends, by unique names.
struct NaiveHardware {
  std::vector<std::string> wire;
  std::vector<std::string> connector_a;
  std::vector<std::string> connector_b;
};
NaiveHardware naive_hardware(const Topology& topology);

// Over all sets of paths that share no wire and no connector: the largest size, and the least total cost of that size.
struct NaiveDisjoint {
  std::size_t count = 0;
  PathCost cost;
};
NaiveDisjoint naive_disjoint(const Topology& topology, NodeIndex from, NodeIndex to);

// The minimum capacity of all cuts between the two, where a cut is a set of nodes on one side and a set of connectors
// that are cut instead of their cables.
std::uint64_t naive_min_cut_mbps(const Topology& topology, NodeIndex from, NodeIndex to);

// The roots r0 and r1 of each node that carry less than their ports together, as "n0 root r0: c1 c2, 98300".
std::vector<std::string> naive_roots(const Topology& topology);

// What increases the number of components when removed: nodes and, by name, wires and connectors of several wires.
std::vector<NodeIndex> naive_weak_nodes(const Topology& topology);
std::vector<std::string> naive_weak_wires(const Topology& topology);
std::vector<std::string> naive_weak_connectors(const Topology& topology);

// The minimum cost of all orders of `nodes`; nullopt if two of them have no path to each other.
struct NaiveRing {
  std::uint64_t relays = 0;
  std::uint64_t latency_ns = 0;
};
std::optional<NaiveRing> naive_best_ring(const Topology& topology, std::vector<NodeIndex> nodes);

}  // namespace cableway::routing

#endif  // CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_ROUTING_H_
