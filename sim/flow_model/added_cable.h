// Which one more cable helps an all_to_all most?
#ifndef CABLEWAY_SIM_FLOW_MODEL_ADDED_CABLE_H_
#define CABLEWAY_SIM_FLOW_MODEL_ADDED_CABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/all_to_all_routes.h"

namespace cableway::sim {

struct AddedCable {
  routing::NodeIndex a;  // a < b
  routing::NodeIndex b;
  AllToAllShares shares;  // with it; `hottest` is not said, as its index is that of a topology which is not there
};

struct AddedCableSettings {
  std::optional<std::uint64_t>
      rate_mbps;  // default: the rate that most cables of the topology have, of those the highest
  double latency_us = routing::kDefaultLatencyUs;
  std::size_t most = 10;  // how many to name
  // Called after each place that was tried.
  std::function<void(std::size_t done, std::size_t candidates)> progress = [](std::size_t, std::size_t) {};
};

struct AddedCableReport {
  AllToAllShares intact;
  std::uint64_t rate_mbps = 0;   // of the cable that is added
  std::size_t candidates = 0;    // pairs of nodes that share no cable
  std::vector<AddedCable> best;  // the best one first, by is_better(); also those that do not help
};

// Whether an all_to_all is better off: fewer pairs are cut; then its slowest pair gets more, and so it ends sooner;
// then all pairs together get more.
bool is_better(const AllToAllShares& left, const AllToAllShares& right);

// Tries a cable between any two nodes that share none, at ports of its own. InvalidArgument where there are more than
// kMaxAllToAllNodes nodes, or rate or latency are out of bounds. Pure.
absl::StatusOr<AddedCableReport> find_best_added_cable(const routing::Topology& topology,
                                                       const AddedCableSettings& settings = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_ADDED_CABLE_H_
