// The least time in which the cables of a topology can carry a workload, for any routing and algorithm: the reference
// for measured and simulated times. Only bandwidth counts; latencies and chunks add to it.
#ifndef CABLEWAY_SIM_FLOW_MODEL_CABLE_BOUND_H_
#define CABLEWAY_SIM_FLOW_MODEL_CABLE_BOUND_H_

#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/concurrent_flow.h"
#include "sim/workload/workload_text.h"

namespace cableway::sim {

// The argument that proves the bound.
enum class BoundMethod {
  kNoCable,         // nothing crosses a cable: 0 seconds
  kMinimumCut,      // all bytes must cross the smallest cut: between two nodes (L. R. Ford and D. R. Fulkerson, 1956),
                    // or between the root and the node with the least cut (J. Edmonds, 1973)
  kGatherCut,       // over all sets of nodes: the blocks of the nodes outside over the incoming capacity (ForestColl,
                    // L. Zhao et al., 2024)
  kTreePacking,     // every part of a partition must be joined to the others twice (tree_packing.h)
  kInjection,       // 2 * (n - 1) times the size leaves the n nodes (P. Patarasuk and X. Yuan, 2009)
  kConcurrentFlow,  // maximum concurrent flow (concurrent_flow.h)
  kPipelineFill,    // the cuts between the stages, crossed in sequence by each micro-batch
};

// "minimum cut", "concurrent flow", ..
std::string_view method_name(BoundMethod method);

struct CableBound {
  double seconds = 0;
  BoundMethod method = BoundMethod::kNoCable;
  // The relative amount by which this method's best bound may exceed `seconds`: 0 if computed exactly.
  double gap = 0;
  // For each of many operations that may overlap: at most `seconds`, and less if that includes time in which cables
  // must be idle.
  double repeated_s = 0;
};

// `node_of_rank` is the node of each rank; several ranks may share a node, and nodes without a rank relay. A size that
// the ranks cannot divide is rounded up as NCCL's users do (rounded_size()).
//
//   broadcast, reduce           size / least of the minimum cuts between rank 0 and another rank
//   all_gather, reduce_scatter  (size / n) * the maximum, over the sets of nodes that leave out a rank, of the ranks
//                               inside over the capacity that leaves the set: reduce_scatter moves the bytes of
//                               all_gather in the opposite direction
//   all_reduce                  size / the strength of the graph (each element's transmissions join all nodes before
//                               the first of them has the sum, and again after that), or what the nodes can inject, if
//                               that is longer; exact if all nodes have ranks and no connector or root is shared
//   sendrecv 0-2, pingpong      size / minimum cut; one way of a round trip
//   the others                  maximum concurrent flow
//   pipeline                    the same, or the time of the first batches to reach a stage, of all through it, and of
//                               the last to the end
//
// InvalidArgument if the ranks do not fit the workload; FailedPrecondition if two ranks that communicate have no path,
// naming their nodes. Pure. Precondition: all are nodes of `topology`.
absl::StatusOr<CableBound> cable_bound(const routing::Topology& topology,
                                       std::span<const routing::NodeIndex> node_of_rank,
                                       const workload::SizedWorkload& sized,
                                       const ConcurrentFlowSettings& settings = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_CABLE_BOUND_H_
