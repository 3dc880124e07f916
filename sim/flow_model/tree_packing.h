// The rate at which all spanning trees of a graph can be used together: its strength.
#ifndef CABLEWAY_SIM_FLOW_MODEL_TREE_PACKING_H_
#define CABLEWAY_SIM_FLOW_MODEL_TREE_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace cableway::sim {

struct WeightedEdge {
  std::uint32_t a = 0;  // a != b
  std::uint32_t b = 0;
  std::uint64_t capacity = 0;
};

// Capacity per tree, exactly: `crossing` / (`parts` - 1).
struct GraphStrength {
  std::uint64_t crossing = 0;  // capacity of the edges between the parts of the weakest partition
  std::uint64_t parts = 2;     // number of parts of that partition, at least two

  double value() const { return static_cast<double>(crossing) / static_cast<double>(parts - 1); }
};

// The minimum, over all partitions of the vertices into two or more parts, of the capacity between the parts divided by
// their number minus one. It equals the capacity of all spanning trees together when each edge's capacity is divided
// among the trees that use it (W. T. Tutte and C. St. J. A. Nash-Williams, 1961; the fractional form: W. H. Cunningham,
// "Optimal attack and reinforcement of a network", 1985).
//
// Finds the weakest partition for a guessed strength by one minimum cut per vertex (F. Barahona, "Separating from the
// dominant of the spanning tree polytope", 1992) and uses that partition's strength as the next guess (W. Dinkelbach,
// 1967), which ends after few guesses. Pure. Preconditions: at least two and at most 4096 vertices; capacities sum up
// to at most 2^40.
GraphStrength graph_strength(std::size_t vertices, std::span<const WeightedEdge> edges);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_TREE_PACKING_H_
