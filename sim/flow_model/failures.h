// What a topology can take: every failure of one cable, of two, and of one node, and what it leaves of an all_to_all.
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
#include "routing/topology/topology.h"
#include "sim/flow_model/all_to_all_routes.h"

namespace cableway::sim {

struct FailureCase {
  enum class Kind { kCable, kTwoCables, kNode };

  Kind kind = Kind::kCable;
  // Places in FailureReport::physical.cables, the lower one first; the second is 0 for one cable.
  std::uint32_t cable = 0;
  std::uint32_t second_cable = 0;
  routing::NodeIndex node = {};  // kNode
  // A node that failed is no longer counted as part of a pair. `pairs_cut` are those that had a path before. The
  // hottest cable is one of the intact topology's.
  AllToAllShares shares;
  // What the pairs that still have a path got before, in bytes a second: the one that got least, and all together.
  double least_rate_before = 0;
  double total_rate_before = 0;
};

struct FailureReport {
  routing::PhysicalCables physical;  // what fails as one: twins of one wire are one cable
  AllToAllShares intact;
  std::size_t parts = 0;                // that no cable joins, before anything fails: 1 where the topology is connected
  std::vector<FailureCase> cables;      // by cable
  std::vector<FailureCase> two_cables;  // by first, then second cable; empty where they were not asked for
  std::vector<FailureCase> nodes;       // by node
  routing::WeakPoints weak;             // the single points of failure
};

struct FailureSettings {
  bool two_cables = true;
  // Called now and then with how many cases are done, and of how many.
  std::function<void(std::size_t done, std::size_t cases)> progress = [](std::size_t, std::size_t) {};
};

// How many cases there are to look at.
std::size_t failure_case_count(std::size_t nodes, std::size_t physical_cables, bool two_cables);

// InvalidArgument where there are more than kMaxAllToAllNodes nodes. Each case computes the routes that changed, and
// the shares of all flows again. Pure, but for what `progress` does.
absl::StatusOr<FailureReport> analyse_failures(const routing::Topology& topology, const FailureSettings& settings = {});

// "cable c3 (n3-n4)", "cables c3 (n3-n4) and c7 (n0-n7)", "node n3".
std::string describe(const routing::Topology& topology, const routing::PhysicalCables& physical,
                     const FailureCase& failure);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_FLOW_MODEL_FAILURES_H_
