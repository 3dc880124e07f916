// How fast a set of transfers can be when their routes may be anything, split as finely as wanted: the maximum
// concurrent flow (F. Shahrokhi and D. W. Matula, 1990).
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
  routing::NodeIndex destination;  // another node than the source
  double bytes = 0;                // 0 or more
};

// The best there is lies between the two times.
struct ConcurrentFlow {
  double least_time_s = 0;    // proven: no routing carries all demands in less
  double reached_time_s = 0;  // a routing that was found needs this
  std::size_t phases = 0;     // how often all demands have been routed

  // How much of the reached time may be too much, as a share of the least.
  double gap() const { return least_time_s > 0 ? std::max(0.0, reached_time_s / least_time_s - 1) : 0; }
};

struct ConcurrentFlowSettings {
  double epsilon = 0.02;             // stop when gap() is at most this: 0.001 to 1
  double enough_s = 0;               // stop when reached_time_s is at most this: a bound that is known otherwise
  std::size_t most_trees = 100'000;  // stop with the phase in which so many shortest-path trees have been grown
  // Called after each tree with how many there are, and how many there will be if nothing ends it before.
  std::function<void(std::size_t trees, std::size_t most)> progress = [](std::size_t, std::size_t) {};
};

// FailedPrecondition names two nodes between which bytes have no path. No path goes through a draining node.
//
// N. Garg and J. Koenemann, "Faster and simpler algorithms for multicommodity flow and other fractional packing
// problems", 1998 (SIAM J. Comput. 2007), in phases (L. K. Fleischer, 2000) with one shortest-path tree a source (G.
// Karakostas, 2002): every resource has a length that grows with what it carries, and all demands are routed along
// shortest paths again and again. Any lengths prove a bound, whatever has been routed: each demand uses up at least its
// bytes times its distance, and all resources have no more than capacity times length a second to give (linear
// programming duality). least_time_s is the largest such bound that was met. O(phases * sources * cables * log nodes).
// Pure. Precondition: `resources` are those of `topology`; demands end at its nodes.
absl::StatusOr<ConcurrentFlow> max_concurrent_flow(const routing::Topology& topology, const CableResources& resources,
                                                   std::span<const Demand> demands,
                                                   const ConcurrentFlowSettings& settings = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_CONCURRENT_FLOW_H_
