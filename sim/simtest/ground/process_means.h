// How an application's process on a node of a simulation test sets up circuits: it asks the node for paths and
// dials them (core/flow_circuits/flow_paths.h).
#ifndef CABLEWAY_SIM_SIMTEST_GROUND_PROCESS_MEANS_H_
#define CABLEWAY_SIM_SIMTEST_GROUND_PROCESS_MEANS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/flow_circuits/flow_paths.h"
#include "sim/simtest/ground/simtest_ground.h"

namespace cableway::sim {

class ProcessMeans {
 public:
  // Everything outlives it.
  ProcessMeans(SimtestGround& ground, std::size_t node);
  ProcessMeans(const ProcessMeans&) = delete;
  ProcessMeans& operator=(const ProcessMeans&) = delete;

  const FlowMeans& flow_means() const { return means_; }
  // The node's process has ended, and with it the session with it: requests that it has not answered fail.
  void node_ended();

 private:
  using HavePaths = std::function<void(absl::StatusOr<PathOffers>)>;

  void find_paths(const std::string& destination, std::uint64_t ordinal, std::size_t most, HavePaths done);
  absl::StatusOr<PathOffers> checked(absl::StatusOr<PathOffers> offers, const std::string& destination);
  absl::Status check(const std::vector<Hop>& path, const std::string& destination) const;

  SimtestGround& ground_;
  const std::size_t node_;
  FlowMeans means_;
  std::map<std::uint64_t, HavePaths> requests_;  // not answered
  std::uint64_t next_request_ = 0;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_GROUND_PROCESS_MEANS_H_
