// What transfers take at flow level: every transfer has at every moment its max-min fair share of the cables on its
// path, and what it gets changes when another one starts or ends. Quick where chunks are too many to look at.
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
  std::uint64_t ordinal = 0;         // which flow from there to there: RouteTable::path_for_flow()
  std::vector<std::uint32_t> after;  // places of transfers that are done before it starts
};

struct CableBytes {
  std::uint64_t bytes_from_a = 0;
  std::uint64_t bytes_from_b = 0;
  friend bool operator==(const CableBytes&, const CableBytes&) = default;
};

struct FlowLevelSettings {
  // Transfers that would end within this share of the time since the beginning end together, when the first of them
  // does. More than rounding asks for makes runs with many different ends shorter, and less exact.
  double coarseness = 1e-9;
  // Called after each moment at which transfers end, with how many have.
  std::function<void(std::size_t done, std::size_t transfers)> progress = [](std::size_t, std::size_t) {};
};

struct FlowLevelResult {
  double time_s = 0;               // until all are done
  std::vector<double> done_s;      // by transfer: when its last byte has arrived
  std::vector<CableBytes> cables;  // by cable
  // The cable direction that was busy for the largest share of the time; the first of those that are equal.
  CableDirection hottest;
  double hottest_utilisation = 0;  // 0 where no cable was used
  std::size_t rate_changes = 0;    // how often rates were computed
};

// A transfer starts at 0, or when the last of those it waits for is done. It takes the path that its source's node
// chooses for it (routing/paths/route_table.h), is sent at its share, and is done one path latency after its last byte
// has left. From a node to itself takes no time.
//
// Rates are computed again when transfers start or end: O(moments at which that happens * length of all paths).
// InvalidArgument where a transfer waits for itself or for none of those given;
// Unavailable where nodes have no path, naming them. Pure. Precondition: all are nodes of `topology`.
absl::StatusOr<FlowLevelResult> run_flow_level(const routing::Topology& topology, std::span<const Transfer> transfers,
                                               const FlowLevelSettings& settings = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_FLOW_LEVEL_RUN_H_
