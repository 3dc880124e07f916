// The options of `cableway sim`, as given and as parsed.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_OPTIONS_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/flow/circuit_share.h"
#include "sim/workload/workload_text.h"
#include "tools/cableway/command/argument.h"
#include "tools/cableway/sim/fail_spec.h"

namespace cableway::cli {

// Bounds that limit the memory of a simulation.
inline constexpr int kMaxSimChannels = 64;
inline constexpr int kMaxSimRepeats = 10'000;
inline constexpr int kLeastMtu = 576;
inline constexpr int kMaxMtu = 65'535;
inline constexpr int kMaxSimLeases = 1 << 20;
inline constexpr double kMaxRelayTimeUs = 1e6;

// As given on the command line.
struct SimOptions {
  bool json = false;
  std::string topology;  // the argument of find_topology()
  std::string workload;
  std::string mix;
  std::vector<std::string> fail;
  std::string rank_order;
  std::string chunk = "64KiB";
  std::string level = "chunk";
  std::string multipath;  // empty: all, but off at flow level
  int channels = 2;
  int repeat = 1;
  int mtu = 1500;
  double relay_time_us = 0;
  int leases = 128;
  bool all = false;
  bool progress = false;
  bool what_if = false;
  std::string html;
  std::vector<std::string> compare;
};

// The parser stores the values in `options`, which outlives the parsing.
std::vector<Argument> sim_arguments(SimOptions& options);

// The parsed options that need no topology.
struct SimPlan {
  std::optional<workload::SizedWorkload> workload;  // not set: a mix, which is read later
  std::vector<FailSpec> failures;
  std::uint32_t chunk_bytes = 0;
  CircuitShare shares = CircuitShare::kNone;
  bool settled = false;  // sim::PredictionRequest
};

// For a simulation, not for --what-if and --compare. Every error is InvalidArgument and names the option.
absl::StatusOr<SimPlan> make_plan(const SimOptions& options);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_OPTIONS_H_
