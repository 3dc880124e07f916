// Runs a simulation test to its end or to the first broken rule.
#ifndef CABLEWAY_SIM_SIMTEST_SIMTEST_RUN_H_
#define CABLEWAY_SIM_SIMTEST_SIMTEST_RUN_H_

#include <cstdint>
#include <optional>

#include "sim/simtest/plan/simtest_plan.h"
#include "sim/simtest/rules/rules.h"

namespace cableway::sim {

struct SimtestResult {
  std::uint64_t trace = 0;  // hash of everything observable; equal for equal plans
  std::optional<BrokenRule> broken;
  Duration virtual_time{0};
  std::uint64_t events = 0;
  std::uint64_t datagrams = 0;
  std::uint64_t chunks = 0;    // crossings of cables
  std::uint64_t messages = 0;  // planned
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t circuits = 0;   // attempted or set up
  std::uint64_t rdma_hops = 0;  // hops of circuits that use RDMA
};

SimtestResult run_simtest(const SimtestPlan& plan);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_SIMTEST_RUN_H_
