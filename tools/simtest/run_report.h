// The result of one simulation test, as one line between processes, and the summary of many, as text and as JSON.
#ifndef CABLEWAY_TOOLS_SIMTEST_RUN_REPORT_H_
#define CABLEWAY_TOOLS_SIMTEST_RUN_REPORT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "sim/simtest/plan/fault.h"
#include "sim/simtest/simtest_run.h"

namespace cableway::simtest {

// A broken rule, and the command that reproduces it.
struct Failure {
  std::string run;  // "seed 17"
  int rule = 0;     // 0: the process that ran it died
  double at_ms = 0;
  std::string what;
  std::string replay;  // command line
};

struct SimtestReport {
  std::uint64_t seed = 0;
  sim::SimtestResult result;
  std::vector<Failure> failures;  // one at most
};

std::string to_line(const SimtestReport& report);
absl::StatusOr<SimtestReport> from_line(const std::string& line);

struct Summary {
  std::uint64_t runs = 0;
  double wall_s = 0;
  double virtual_s = 0;
  std::uint64_t events = 0;
  std::uint64_t datagrams = 0;
  std::uint64_t chunks = 0;
  std::uint64_t messages = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t circuits = 0;
  std::uint64_t rdma_hops = 0;
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, sim::kFaultKinds> faults{};  // by kind
  std::uint64_t cuts = 0;
  std::uint64_t pulses = 0;
  std::uint64_t silent = 0;
  std::uint64_t still = 0;
  std::uint64_t silences_checked = 0;
  std::uint64_t stalls_checked = 0;
  Duration longest_stall{0};  // of all runs
  std::uint64_t ports_judged = 0;
  std::uint64_t bytes_on_judged = 0;
  std::uint64_t alternates_on_judged = 0;
  std::uint64_t least_use = 1000;  // per mille, of the run in which it was the lowest
  Duration latest_pulse{0};        // of all runs
  std::uint64_t trace = 0;         // combined from all runs' traces, independent of their order
  std::vector<Failure> failures;

  void add(const SimtestReport& report);
};

std::string to_text(const Failure& failure);
std::string to_text(const Summary& summary);
std::string to_json(const Summary& summary);

}  // namespace cableway::simtest

#endif  // CABLEWAY_TOOLS_SIMTEST_RUN_REPORT_H_
