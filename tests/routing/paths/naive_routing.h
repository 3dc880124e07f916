// Second implementations of what routing/ computes, as plain as can be and as slow: for comparison on small graphs.
// They share no code with the first ones; what is one wire or one connector they too read off the ports alone.
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

// All paths that visit no node twice and go through no draining node, depth first; sorted by cost, then by cables.
std::vector<Path> naive_paths(const Topology& topology, NodeIndex from, NodeIndex to);

// Floyd and Warshall's distances between all nodes, none where there is no path.
std::vector<std::vector<std::optional<PathCost>>> naive_distances(const Topology& topology);

// The wire of each cable, and the connectors at its two ends, by names that are equal if the things are.
struct NaiveHardware {
  std::vector<std::string> wire;
  std::vector<std::string> connector_a;
  std::vector<std::string> connector_b;
};
NaiveHardware naive_hardware(const Topology& topology);

// Of all sets of paths that share no wire and no connector, the most paths, and the least sum of costs of that many.
struct NaiveDisjoint {
  std::size_t count = 0;
  PathCost cost;
};
NaiveDisjoint naive_disjoint(const Topology& topology, NodeIndex from, NodeIndex to);

// The least capacity of all cuts between the two, where a cut is a set of nodes on one side and a set of connectors
// that are cut in place of their cables.
std::uint64_t naive_min_cut_mbps(const Topology& topology, NodeIndex from, NodeIndex to);

// What falls into more parts when it is taken away: nodes and, by their names, wires and connectors of several wires.
std::vector<NodeIndex> naive_weak_nodes(const Topology& topology);
std::vector<std::string> naive_weak_wires(const Topology& topology);
std::vector<std::string> naive_weak_connectors(const Topology& topology);

// The least cost of all orders of `nodes`; none where two have no path to each other.
struct NaiveRing {
  std::uint64_t relays = 0;
  std::uint64_t latency_ns = 0;
};
std::optional<NaiveRing> naive_best_ring(const Topology& topology, std::vector<NodeIndex> nodes);

}  // namespace cableway::routing

#endif  // CABLEWAY_TESTS_ROUTING_PATHS_NAIVE_ROUTING_H_
