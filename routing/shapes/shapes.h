// The node pairs that the cables of a regular shape join.
//
// A shape is a list of pairs of node numbers, from 0; the order of the pairs is the order of the cables. Line, ring,
// mesh, star and two-dimensional torus have the same pairs in the same order as in `tools/lab`. All functions are pure.
// Precondition of all: the sizes are those that topology_generator.h allows.
#ifndef CABLEWAY_ROUTING_SHAPES_SHAPES_H_
#define CABLEWAY_ROUTING_SHAPES_SHAPES_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cableway::routing {

using NodePairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Joins each node to the next.
NodePairs line_shape(std::uint32_t nodes);
// A line, plus a cable from the last node to the first.
NodePairs ring_shape(std::uint32_t nodes);
// All pairs.
NodePairs mesh_shape(std::uint32_t nodes);
// Joins node 0 to every other node.
NodePairs star_shape(std::uint32_t nodes);

// A grid that is closed in every dimension; nodes are numbered so that the last coordinate changes fastest. Each node
// owns the cable to the next node in the last dimension, then that in the one before it, and so on. In a dimension of
// size two that cable leads to the same node in both directions, so it exists once.
NodePairs torus_shape(std::span<const std::uint32_t> sizes);

// Nodes whose numbers differ in one bit; each node owns the cables to larger numbers, lowest bit first.
NodePairs hypercube_shape(std::uint32_t dimensions);

// Groups of `routers` nodes, each a full mesh, and one cable between every two groups. Node g * routers + r is router r
// of group g. The cables of group g to the other groups, in their order, go to its routers round-robin: the j-th, from
// 0, to router j mod routers (the absolute arrangement of Kim, Dally, Scott and Abts, "Technology-driven,
// highly-scalable dragonfly topology", ISCA 2008). The cables inside group 0 come first, then those inside group 1, ..,
// then those between groups.
NodePairs dragonfly_shape(std::uint32_t groups, std::uint32_t routers);

// Two rings of `nodes` each, the second ring numbered after the first, and a bridge between their first nodes.
NodePairs two_rings_shape(std::uint32_t nodes);

// A connected graph in which every node has `degree` neighbours, 2 to nodes - 1; nodes * degree is even. The same
// arguments give the same graph on every machine and with every compiler.
//
// Starts from the ring in which each node is also joined to the nodes up to degree / 2 places away, and to the opposite
// node if the degree is odd. Then makes ten times as many exchanges as there are cables: two cables a-b, c-d, drawn by
// SplitMix64 from the seed, become a-c, b-d unless that joins a pair twice. (The switch chain: R. Taylor, "Constrained
// switchings in graphs", 1981.) Components that have separated are joined by one more exchange each, of two cables that
// lie on cycles. The pairs are sorted.
NodePairs random_regular_shape(std::uint32_t nodes, std::uint32_t degree, std::uint64_t seed);

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_SHAPES_SHAPES_H_
