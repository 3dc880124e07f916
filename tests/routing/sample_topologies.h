// Topologies for tests: nodes n0, n1, .. and cables c0, c1, .. in the order of the pairs given.
#ifndef CABLEWAY_TESTS_ROUTING_SAMPLE_TOPOLOGIES_H_
#define CABLEWAY_TESTS_ROUTING_SAMPLE_TOPOLOGIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::vector<Node> sample_nodes(std::size_t count);
// A cable with addresses that are unique for `number`.
Cable sample_cable(std::uint32_t number, std::uint32_t a, std::uint32_t b);

// The cables of a switch segment: all pairs of `nodes`, each of which has one port there. Cables are numbered from
// `first_number`.
std::vector<Cable> switch_segment(std::uint32_t first_number, const std::vector<std::uint32_t>& nodes);

// Lowers the rates of cables to those of the listed plugs and roots at their ends.
void keep_to_parts(const std::vector<Node>& nodes, std::vector<Cable>& cables);

// Aborts if the nodes and cables are not a valid topology.
Topology make_topology(std::vector<Node> nodes, std::vector<Cable> cables);
// `latency_us`: of every cable.
Topology sample_topology(std::size_t nodes, const Pairs& cables, std::optional<double> latency_us = {});

Pairs ring_pairs(std::uint32_t nodes);
Pairs line_pairs(std::uint32_t nodes);
Pairs mesh_pairs(std::uint32_t nodes);
Pairs star_pairs(std::uint32_t leaves);
Pairs torus_pairs(std::uint32_t rows, std::uint32_t columns);

NodeIndex node_named(const Topology& topology, const std::string& name);

}  // namespace cableway::routing

#endif  // CABLEWAY_TESTS_ROUTING_SAMPLE_TOPOLOGIES_H_
