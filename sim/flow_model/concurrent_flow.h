// The least time for a set of transfers whose routes are arbitrary and arbitrarily split: the maximum concurrent flow
// (F. Shahrokhi and D. W. Matula, 1990).
#ifndef CABLEWAY_SIM_FLOW_MODEL_CONCURRENT_FLOW_H_
#define CABLEWAY_SIM_FLOW_MODEL_CONCURRENT_FLOW_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/cable_resources.h"

namespace cableway::sim {

struct Demand {
  routing::NodeIndex source;
  routing::NodeIndex destination;  // differs from the source
  double bytes = 0;                // 0 or more
};

// The optimum lies between the two times.
struct ConcurrentFlow {
  double least_time_s = 0;    // lower bound: no routing carries all demands in less
  double reached_time_s = 0;  // upper bound: the time of a routing that was found
  std::size_t phases = 0;     // how often all demands have been routed

  // The relative amount by which the reached time may exceed the optimum.
  double gap() const { return least_time_s > 0 ? std::max(0.0, reached_time_s / least_time_s - 1) : 0; }
};

struct ConcurrentFlowSettings {
  double epsilon = 0.02;             // stop when gap() is at most this: 0.001 to 1
  double enough_s = 0;               // stop when reached_time_s is at most this: a bound known from elsewhere
  std::size_t most_trees = 100'000;  // stop after the phase in which this many shortest-path trees are reached
  // Called after each tree with the number so far and the number if no other condition ends the search.
  std::function<void(std::size_t trees, std::size_t most)> progress = [](std::size_t, std::size_t) {};
};

// FailedPrecondition names two nodes with a demand and no path between them. No path crosses a draining node.
//
// N. Garg and J. Koenemann, "Faster and simpler algorithms for multicommodity flow and other fractional packing
// problems", 1998 (SIAM J. Comput. 2007), in phases (L. K. Fleischer, 2000) with one shortest-path tree per source (G.
// Karakostas, 2002): every resource has a length that grows with its load, and all demands are repeatedly routed along
// shortest paths. Any lengths prove a bound, whatever has been routed: each demand uses at least its bytes times its
// distance, and all resources supply at most capacity times length per second (linear programming duality).
// least_time_s is the largest such bound found. O(phases * sources * cables * log nodes).
// Pure. Precondition: `resources` are those of `topology`; demands end at its nodes.
absl::StatusOr<ConcurrentFlow> max_concurrent_flow(const routing::Topology& topology, const CableResources& resources,
                                                   std::span<const Demand> demands,
                                                   const ConcurrentFlowSettings& settings = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_CONCURRENT_FLOW_H_
