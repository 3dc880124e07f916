// The command line of simtest.
#ifndef CABLEWAY_TOOLS_SIMTEST_OPTIONS_H_
#define CABLEWAY_TOOLS_SIMTEST_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/clock.h"
#include "sim/simtest/plan/fault.h"

namespace cableway::simtest {

struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t last = 0;
};

struct Replay {
  std::uint64_t seed = 0;
  std::optional<sim::FaultPlan> faults;  // replaces the seed's own
};

struct Soak {
  Duration lasts{0};  // of virtual time
  std::uint64_t seed = 1;
};

struct Options {
  std::optional<SeedRange> seeds;
  bool saturation = false;  // the seeds are those of saturated worlds, not of faulty ones
  std::size_t max_nodes = 64;
  std::optional<Replay> replay;
  std::string scenario;  // file; "": none
  std::optional<Soak> soak;
  std::size_t jobs = 1;
  std::size_t stop_after = 10;  // failures
  std::uint32_t seconds_per_seed = 120;
  bool twice = false;
  bool hashes = false;
  bool json = false;
  bool shrink = true;
};

// "A..B" or "A"; InvalidArgument names what was expected.
absl::StatusOr<SeedRange> parse_seeds(const std::string& text);
// "SEED" or "SEED:FAULTS".
absl::StatusOr<Replay> parse_replay(const std::string& text);
// "HOURS" or "HOURS:SEED".
absl::StatusOr<Soak> parse_soak(const std::string& text);

// Help and errors are already printed. Without `options`, the program ends with `exit_status`.
struct ParsedOptions {
  std::optional<Options> options;
  int exit_status = 0;
};
ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace cableway::simtest

#endif  // CABLEWAY_TOOLS_SIMTEST_OPTIONS_H_
