// Carries a simulation test out, to the end or to the first rule that is broken.
#ifndef CABLEWAY_SIM_SIMTEST_SIMTEST_RUN_H_
#define CABLEWAY_SIM_SIMTEST_SIMTEST_RUN_H_

#include <cstdint>
#include <optional>

#include "sim/simtest/plan/simtest_plan.h"
#include "sim/simtest/rules/rules.h"

namespace cableway::sim {

struct SimtestResult {
  std::uint64_t trace = 0;  // of everything that could be seen; the same for the same plan
  std::optional<BrokenRule> broken;
  Duration virtual_time{0};
  std::uint64_t events = 0;
  std::uint64_t datagrams = 0;
  std::uint64_t chunks = 0;    // that crossed a cable
  std::uint64_t messages = 0;  // planned
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t circuits = 0;   // set up, or tried to
  std::uint64_t rdma_hops = 0;  // of circuits: over RDMA
};

SimtestResult run_simtest(const SimtestPlan& plan);

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_SIMTEST_RUN_H_
