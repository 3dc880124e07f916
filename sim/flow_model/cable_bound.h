// The least time in which the cables of a topology can carry a workload, whatever the routing and the algorithm: what a
// measured or simulated time is compared with. Bandwidth alone counts; latencies and chunks only add to it.
#ifndef CABLEWAY_SIM_FLOW_MODEL_CABLE_BOUND_H_
#define CABLEWAY_SIM_FLOW_MODEL_CABLE_BOUND_H_

#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/concurrent_flow.h"
#include "sim/workload/workload_text.h"

namespace cableway::sim {

// What proves the bound.
enum class BoundMethod {
  kNoCable,         // nothing has to cross a cable: 0 seconds
  kMinimumCut,      // all bytes must cross the smallest cut: between two nodes (L. R. Ford and D. R. Fulkerson, 1956),
                    // or between the root and the node that is hardest to reach (J. Edmonds, 1973)
  kGatherCut,       // of all sets of nodes: the blocks of those outside, over what can come in (ForestColl, L. Zhao et
                    // al., 2024)
  kTreePacking,     // every part of a partition must be joined to the others twice (tree_packing.h)
  kInjection,       // 2 * (n - 1) times the size leaves the n nodes (P. Patarasuk and X. Yuan, 2009)
  kConcurrentFlow,  // maximum concurrent flow (concurrent_flow.h)
  kPipelineFill,    // the cuts between the stages, one after the other for a micro-batch
};

// "minimum cut", "concurrent flow", ..
std::string_view method_name(BoundMethod method);

struct CableBound {
  double seconds = 0;
  BoundMethod method = BoundMethod::kNoCable;
  // By which share the largest bound of this method may be above `seconds`: 0 where it has been computed exactly.
  double gap = 0;
  // Of each of many operations that may overlap: no longer than `seconds`, and shorter where those hold time in which
  // cables have to wait.
  double repeated_s = 0;
};

// `node_of_rank` says where each rank runs; several may run on one node, and nodes without a rank relay. A size that
// the ranks cannot divide is rounded up as NCCL's users do (rounded_size()).
//
//   broadcast, reduce           size / least of the minimum cuts between rank 0 and another rank
//   all_gather, reduce_scatter  (size / n) * the largest, over the sets of nodes that leave out a rank, of the ranks
//                               inside over the capacity that leaves the set: the bytes of reduce_scatter are those of
//                               all_gather, the other way round
//   all_reduce                  size / the strength of the graph (each element's transmissions join all nodes before
//   the
//                               first of them has the sum, and again after that), or what the nodes can inject, if that
//                               is longer; exact where all nodes have ranks and no connector is shared
//   sendrecv 0-2, pingpong      size / minimum cut; of a round trip one way
//   the others                  maximum concurrent flow
//   pipeline                    that, or the time of the first batches to reach a stage, of all through it, and of the
//                               last to the end
//
// InvalidArgument where the ranks do not fit the workload; FailedPrecondition where two ranks that need each other have
// no path, naming their nodes. Pure. Precondition: all are nodes of `topology`.
absl::StatusOr<CableBound> cable_bound(const routing::Topology& topology,
                                       std::span<const routing::NodeIndex> node_of_rank,
                                       const workload::SizedWorkload& sized,
                                       const ConcurrentFlowSettings& settings = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_CABLE_BOUND_H_
