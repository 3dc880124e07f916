// Finds the additional cable that improves an all_to_all most.
//
// The cable is assumed to be like those that the nodes have:
//   - where all ports of a node have a known root, the new port is behind the root with the fewest cables, since a
//     cable brings no PCIe link with it; else it is behind none, and so not limited;
//   - where both nodes have split plugs, whose functions are behind several roots each, the cable has as many
//     functions, each with an equal share of its rate: two between two DGX Sparks, one behind each root.
#ifndef CABLEWAY_SIM_FLOW_MODEL_ADDED_CABLE_H_
#define CABLEWAY_SIM_FLOW_MODEL_ADDED_CABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/cable/cable_latency.h"
#include "sim/flow_model/all_to_all_routes.h"

namespace cableway::sim {

struct AddedCable {
  routing::NodeIndex a;  // a < b
  routing::NodeIndex b;
  AllToAllShares shares;  // with the cable; `hottest` is unset: its topology is not returned
  std::size_t functions = 1;
  bool behind_roots = false;  // at one of its ends, or both
};

struct AddedCableSettings {
  std::optional<std::uint64_t> rate_mbps;  // of all functions together; default: the most common rate of the topology's
                                           // wires, the highest of several
  double latency_us = kAssumedLatencyUs;
  std::size_t most = 10;  // size limit of AddedCableReport::best
  // Called after each candidate.
  std::function<void(std::size_t done, std::size_t candidates)> progress = [](std::size_t, std::size_t) {};
};

struct AddedCableReport {
  AllToAllShares intact;
  std::uint64_t rate_mbps = 0;   // of the added cable; its roots may carry less
  std::size_t candidates = 0;    // pairs of nodes that share no cable
  std::vector<AddedCable> best;  // sorted by is_better(), best first; includes cables that do not help
};

// Whether an all_to_all is better off: first, fewer pairs without a path; then a higher rate of the slowest pair, which
// determines when it ends; then a higher total rate.
bool is_better(const AllToAllShares& left, const AllToAllShares& right);

// Whether the best of the added cables is better than none.
bool helps(const AddedCableReport& report);

// Tries a cable between any two nodes that share none. InvalidArgument for more than kMaxAllToAllNodes nodes, or a rate
// or latency out of bounds. Pure.
absl::StatusOr<AddedCableReport> find_best_added_cable(const routing::Topology& topology,
                                                       const AddedCableSettings& settings = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_ADDED_CABLE_H_
