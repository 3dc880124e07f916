// The command line of collperf.
#ifndef CABLEWAY_TOOLS_COLLPERF_OPTIONS_H_
#define CABLEWAY_TOOLS_COLLPERF_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "nlohmann/json.hpp"
#include "routing/text/exit_meaning.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_text.h"
#include "tools/collperf/launch/placement.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}

namespace cableway::collperf {

using workload::Operation;
using workload::SizedWorkload;
using workload::Workload;

struct Options {
  std::string plugin;
  int abi = 0;  // 0: the newest that the plugin exports
  int device = 0;
  Placement place;
  std::vector<std::string> ssh;        // the program that reaches other hosts, and its first arguments
  bool launched = false;               // by another process of collperf: see starter_watch.h
  std::vector<std::string> arguments;  // those of all ranks, for processes that this one starts
  std::vector<SizedWorkload> work;     // in the order of the run; sizes may be 0
  int warmup = 5;
  int iterations = 20;
  double seconds = 0;       // measured
  double wall_seconds = 0;  // with all that is not measured; at most one of the two is given
  int channels = 2;
  int in_flight = 8;
  std::uint64_t step_bytes = 0;  // 0: NCCL's own, which depends on the operation
  int check_iterations = 1;      // 0: nothing is checked, unless check_all
  bool check_all = false;
  bool recv_hint = true;
  std::chrono::microseconds idle{0};
  std::chrono::milliseconds timeout{60000};
  std::chrono::milliseconds peer_grace{10000};
  std::string json;  // file, "-" for standard output, empty for none
  bool progress = false;
  bool verbose = false;
  bool trace = false;
};

bool checks(const Options& options);

std::uint64_t step_bytes_of(const Options& options, const Workload& workload);

// The options that must be the same on all ranks.
nlohmann::json agreement_of(const Options& options);

std::vector<routing::ExitMeaning> exit_statuses();

// Calls `read` with the parser of the command line, for its manual page.
void with_command_line(const std::function<void(const CLI::App&)>& read);

// The options, or the exit status after help or an error was printed.
std::variant<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_OPTIONS_H_
