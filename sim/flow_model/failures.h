// The effect on an all_to_all of every failure of one cable, of two cables, and of one node.
#ifndef CABLEWAY_SIM_FLOW_MODEL_FAILURES_H_
#define CABLEWAY_SIM_FLOW_MODEL_FAILURES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "routing/paths/weak_points.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/short_cable_names.h"
#include "routing/topology/topology.h"
#include "sim/flow_model/all_to_all_routes.h"

namespace cableway::sim {

struct FailureCase {
  enum class Kind { kCable, kTwoCables, kNode };

  Kind kind = Kind::kCable;
  // Indices into FailureReport::physical.cables, the lower one first; the second is 0 for one cable.
  std::uint32_t cable = 0;
  std::uint32_t second_cable = 0;
  routing::NodeIndex node = {};  // kNode
  // Pairs with a failed node are not counted. `pairs_cut` are those that had a path before. The hottest cable is an
  // index of the intact topology.
  AllToAllShares shares;
  // The rates that the pairs which still have a path had before, in bytes per second: the least, and the total.
  double least_rate_before = 0;
  double total_rate_before = 0;
};

struct FailureReport {
  routing::PhysicalCables physical;  // units of failure: twins of one wire are one cable
  AllToAllShares intact;
  std::size_t parts = 0;                // components before any failure: 1 if the topology is connected
  std::vector<FailureCase> cables;      // by cable
  std::vector<FailureCase> two_cables;  // by first, then second cable; empty if not requested
  std::vector<FailureCase> nodes;       // by node
  routing::WeakPoints weak;             // the single points of failure
};

struct FailureSettings {
  bool two_cables = true;
  // Called occasionally with the number of cases done and the total.
  std::function<void(std::size_t done, std::size_t cases)> progress = [](std::size_t, std::size_t) {};
};

// The number of cases to analyse.
std::size_t failure_case_count(std::size_t nodes, std::size_t physical_cables, bool two_cables);

// InvalidArgument for more than kMaxAllToAllNodes nodes. Each case recomputes the routes that change, and the shares of
// all flows. Pure, except for `progress`.
absl::StatusOr<FailureReport> analyse_failures(const routing::Topology& topology, const FailureSettings& settings = {});

// "cable c3 (n3-n4)", "cables c3 (n3-n4) and c7 (n0-n7)", "node n3". `names`: short names of cables; null: full ones.
std::string describe(const routing::Topology& topology, const routing::PhysicalCables& physical,
                     const FailureCase& failure, const routing::ShortCableNames* names = nullptr);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_FAILURES_H_
