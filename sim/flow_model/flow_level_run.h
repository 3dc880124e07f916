// Transfer times at flow level: at any time every transfer has its max-min fair share of the cables on its path, which
// changes when other transfers start or end. Fast where there are too many chunks to simulate.
#ifndef CABLEWAY_SIM_FLOW_MODEL_FLOW_LEVEL_RUN_H_
#define CABLEWAY_SIM_FLOW_MODEL_FLOW_LEVEL_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/cable_resources.h"

namespace cableway::sim {

struct Transfer {
  routing::NodeIndex source;
  routing::NodeIndex destination;
  std::uint64_t bytes = 0;
  std::uint64_t ordinal = 0;         // of the flow between these nodes: RouteTable::path_for_flow()
  std::vector<std::uint32_t> after;  // indices of transfers that have to be done before it starts
};

struct CableBytes {
  std::uint64_t bytes_from_a = 0;
  std::uint64_t bytes_from_b = 0;
  friend bool operator==(const CableBytes&, const CableBytes&) = default;
};

struct FlowLevelSettings {
  // Transfers that would end within this share of the elapsed time end together, when the first of them does. Values
  // above the rounding error make runs with many different ends faster and less exact.
  double coarseness = 1e-9;
  // Called after each instant at which transfers end, with the number done.
  std::function<void(std::size_t done, std::size_t transfers)> progress = [](std::size_t, std::size_t) {};
};

struct FlowLevelResult {
  double time_s = 0;               // until all are done
  std::vector<double> done_s;      // by transfer: when its last byte arrived
  std::vector<CableBytes> cables;  // by cable
  // The cable direction that was busy for the largest share of the time; the first of several.
  CableDirection hottest;
  double hottest_utilisation = 0;  // 0 if no cable was used
  std::size_t rate_changes = 0;    // number of times that rates were computed
};

// A transfer starts at 0, or when the last of those it waits for is done. It uses the path that its source's node
// chooses (routing/paths/route_table.h), is sent at its share, and is done one path latency after its last byte has
// left. A transfer from a node to itself takes no time.
//
// Rates are recomputed when transfers start or end: O(instants at which that happens * length of all paths).
// InvalidArgument if a transfer waits for itself or for an index that does not exist;
// Unavailable if nodes have no path, naming them. Pure. Precondition: all are nodes of `topology`.
absl::StatusOr<FlowLevelResult> run_flow_level(const routing::Topology& topology, std::span<const Transfer> transfers,
                                               const FlowLevelSettings& settings = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_FLOW_LEVEL_RUN_H_
