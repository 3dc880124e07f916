// Scenarios: simulation tests written by hand, with their expected results (tests/scenarios).
//
//   about = "what the scenario tests"
//   seed = 1
//   [topology]                      # nodes n0, n1, ..; cables are numbered in this order, the switch after them
//   nodes = 4
//   cables = [[0, 1], [1, 2], [2, 3], [3, 0]]
//   twins = [[0, 2]]                # two cables of one plug, numbered after the others
//   switch = [0, 1, 3]
//   draining = [1]
//   rdma = [0, 1]                   # cables with RDMA at both ends (all ends of the switch), 100 at most
//   [timing]
//   hello_ms = 100
//   hold_ms = 1000
//   pulse_ms = 10                   # 0: none are sent
//   stalls_ms = 20                  # the longest stall of each host's threads: pulses are late
//   [circuits]                      # of all flows
//   path_wait_ms = 30000            # how long a flow may be without one
//   wanted = 1                      # that each flow wants, on different paths
//   [[flow]]
//   from = 0
//   to = 2
//   messages = 100
//   bytes = 65536
//   begins_ms = 500
//   receiver_waits_ms = 0           # before each message; likewise sender_waits_ms
//   in_flight = 8
//   chunk_bytes = 65536
//   [[fault]]                       # kinds, targets and amounts as in fault.h
//   kind = "cut"
//   at_ms = 1500
//   lasts_ms = 200                  # 0: permanent
//   target = 3
//   amount = 1
//   [expect]
//   done_at_least = 90              # messages
//   failed_at_most = 10
//   circuits_at_least = 2
//   silent_at_least = 2             # verdicts of pulses; likewise still_at_least, verdicts_at_most
//   cuts_at_least = 10
//   drained_left_within_ms = 8000   # for a flow that has another path
#ifndef CABLEWAY_SIM_SIMTEST_SCENARIO_FILE_H_
#define CABLEWAY_SIM_SIMTEST_SCENARIO_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/simtest/plan/simtest_plan.h"
#include "sim/simtest/simtest_run.h"

namespace cableway::sim {

struct Scenario {
  std::string about;
  SimtestPlan plan;
  std::uint64_t done_at_least = 0;
  std::uint64_t failed_at_most = 0;
  std::uint64_t circuits_at_least = 0;
  std::uint64_t silent_at_least = 0;  // verdicts
  std::uint64_t still_at_least = 0;
  std::uint64_t verdicts_at_most = UINT64_MAX;
  std::uint64_t cuts_at_least = 0;
  Duration drained_left_within = Duration::max();
};

// InvalidArgument: "FILE:LINE: what is wrong; what was expected".
absl::StatusOr<Scenario> parse_scenario(std::string_view text, std::string_view file_name);
// Compares the result with the expectations; FailedPrecondition names the first one missed.
absl::Status check_expectations(const Scenario& scenario, const SimtestResult& result);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_SCENARIO_FILE_H_
