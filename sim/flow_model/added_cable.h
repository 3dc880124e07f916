// Finds the additional cable that improves an all_to_all most.
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
};

struct AddedCableSettings {
  std::optional<std::uint64_t>
      rate_mbps;  // default: the most common rate of the topology's cables, the highest of several
  double latency_us = kAssumedLatencyUs;
  std::size_t most = 10;  // size limit of AddedCableReport::best
  // Called after each candidate.
  std::function<void(std::size_t done, std::size_t candidates)> progress = [](std::size_t, std::size_t) {};
};

struct AddedCableReport {
  AllToAllShares intact;
  std::uint64_t rate_mbps = 0;   // of the added cable
  std::size_t candidates = 0;    // pairs of nodes that share no cable
  std::vector<AddedCable> best;  // sorted by is_better(), best first; includes cables that do not help
};

// Whether an all_to_all is better off: first, fewer pairs without a path; then a higher rate of the slowest pair, which
// determines when it ends; then a higher total rate.
bool is_better(const AllToAllShares& left, const AllToAllShares& right);

// Tries a cable between any two nodes that share none, at new ports behind no root. InvalidArgument for more than
// kMaxAllToAllNodes nodes, or a rate or latency out of bounds. Pure.
absl::StatusOr<AddedCableReport> find_best_added_cable(const routing::Topology& topology,
                                                       const AddedCableSettings& settings = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_ADDED_CABLE_H_
