// Runs a simulation test to its end or to the first broken rule.
#ifndef CABLEWAY_SIM_SIMTEST_SIMTEST_RUN_H_
#define CABLEWAY_SIM_SIMTEST_SIMTEST_RUN_H_

#include <array>
#include <cstdint>
#include <functional>
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
  std::uint64_t circuits = 0;                       // attempted or set up
  std::uint64_t rdma_hops = 0;                      // hops of circuits that use RDMA
  std::uint64_t bytes = 0;                          // of messages that are done: each was compared with what was sent
  std::array<std::uint64_t, kFaultKinds> faults{};  // that have begun, by kind
  // How often a cable, or all between two parts of the world, stopped carrying while a flow was not over.
  std::uint64_t cuts = 0;
  std::uint64_t pulses = 0;                // and what kernels have answered to them
  std::uint64_t silent = 0;                // verdicts of pulses that a cable is silent
  std::uint64_t still = 0;                 // that a node stands still
  std::uint64_t silences_checked = 0;      // after which circuits had to have ended
  std::uint64_t least_use = 0;             // per mille of the time in which the least used port has sent
  Duration latest_pulse{0};                // how late a node's timer for pulses has run at most
  std::uint64_t stalls_checked = 0;        // flows that had something to move after they had lost a carrier
  Duration longest_stall{0};               // of them
  std::uint64_t ports_judged = 0;          // that flows' own paths and alternates have used
  std::uint64_t bytes_on_judged = 0;       // on these, of alternates only those put there while they were in use
  std::uint64_t alternates_on_judged = 0;  // of these, those of alternates
  Duration on_draining{0};  // the longest that a flow with another path had a circuit over a cable that drained
};

// Called now and then while a world runs; with a part of the result.
using SimtestProgress = std::function<void(const SimtestResult&)>;

SimtestResult run_simtest(const SimtestPlan& plan, const SimtestProgress& progress = {});

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_SIMTEST_SIMTEST_RUN_H_
