// A cheapest flow in a network of unit capacities, found one unit at a time.
#ifndef CABLEWAY_ROUTING_PATHS_UNIT_FLOW_H_
#define CABLEWAY_ROUTING_PATHS_UNIT_FLOW_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "routing/topology/topology.h"

namespace cableway::routing {

// The cost of one arc or a sum of arcs, compared in this order. Signed for backward arcs; sums exceed a PackedCost.
struct ArcCost {
  std::int64_t penalty = 0;  // for what a path should rather not use
  std::int64_t hops = 0;
  std::int64_t latency_ns = 0;
  friend auto operator<=>(const ArcCost&, const ArcCost&) = default;
  friend ArcCost operator+(ArcCost left, ArcCost right) {
    return {left.penalty + right.penalty, left.hops + right.hops, left.latency_ns + right.latency_ns};
  }
  friend ArcCost operator-(ArcCost left, ArcCost right) {
    return {left.penalty - right.penalty, left.hops - right.hops, left.latency_ns - right.latency_ns};
  }
};

// Each push_one() sends one unit from source to sink over the cheapest augmenting path, so the flow is always the
// cheapest of its size. Successive shortest augmenting paths (R. G. Busacker and P. J. Gowen, 1960; for two paths: J.
// W. Suurballe, "Disjoint paths in a network", 1974).
class UnitFlow {
 public:
  UnitFlow(std::size_t vertices, std::size_t source, std::size_t sink)
      : source_(static_cast<Index>(source)),
        sink_(static_cast<Index>(sink)),
        arcs_of_(vertices),
        potential_(vertices) {}

  // For speed: how many arcs there will be.
  void reserve(std::size_t arcs) { arcs_.reserve(2 * arcs); }

  // `label` is returned in the paths. `cost` is not negative.
  void add_arc(std::size_t from, std::size_t to, ArcCost cost, std::optional<CableIndex> label = std::nullopt);

  // Returns false when there is no augmenting path left.
  bool push_one();

  // Removes one unit from the flow and returns the labels along its path. Precondition: the flow is not empty.
  std::vector<CableIndex> take_one();

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xffffffff;

  struct Arc {
    ArcCost cost;
    Index to = 0;
    Index next = kNone;  // of the same vertex
    std::optional<CableIndex> label;
    bool is_open = false;  // has residual capacity; on a backward arc: carries a unit that can be cancelled
  };
  // The arcs of a vertex, in the order in which they were added: linked, as a vector for each vertex takes most of the
  // time of a small search.
  struct ArcList {
    Index first = kNone;
    Index last = kNone;
  };

  static Index opposite(Index arc) { return arc ^ 1; }
  static bool is_forward(Index arc) { return arc % 2 == 0; }
  void append(std::size_t from, Arc arc);
  void search(std::vector<ArcCost>& distance, std::vector<Index>& last_arc) const;

  const Index source_;
  const Index sink_;
  std::vector<Arc> arcs_;           // forward and backward arcs alternate
  std::vector<ArcList> arcs_of_;    // by vertex
  std::vector<ArcCost> potential_;  // by vertex
};

}  // namespace cableway::routing

#endif  // CABLEWAY_ROUTING_PATHS_UNIT_FLOW_H_
