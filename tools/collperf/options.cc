#include "tools/collperf/options.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "nccl_adapter/abi/net_abi.h"

namespace cableway::collperf {
namespace {

constexpr std::uint64_t kCollectiveStep = std::uint64_t{512} * 1024;    // NCCL's buffer of 4 MiB in 8 steps
constexpr std::uint64_t kPointToPointStep = std::uint64_t{128} * 1024;  // NCCL's send/recv chunk
constexpr std::uint64_t kLine = 128;
constexpr std::uint64_t kMaxMessages = 1000000;  // per operation and rank: bounds a schedule's memory
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;
constexpr int kMaxRanks = 1024;

// The command line before the options are checked against each other.
struct RawOptions {
  Options options;
  std::vector<std::string> operations;
  std::vector<std::string> algorithms;
  std::vector<std::string> patterns;
  std::string rendezvous;
  std::vector<std::uint64_t> sizes;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t factor = 2;
  int micro_batches = 8;
  bool latency = false;
  double timeout_s = 60;
  double grace_s = 10;
  std::int64_t idle_us = 0;
};

[[noreturn]] void refuse(const std::string& option, const std::string& reason) {
  throw CLI::ValidationError(option, reason);
}

// Called before any thread starts.
const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

void parse_rendezvous(const std::string& text, Options& options) {
  const std::size_t colon = text.rfind(':');
  int port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 1 || port > 65535) {
    refuse("--rendezvous", absl::StrCat("'", text, "' is not HOST:PORT with a port from 1 to 65535"));
  }
  options.host = text.substr(0, colon);
  if (options.host.size() > 2 && options.host.front() == '[' && options.host.back() == ']') {
    options.host = options.host.substr(1, options.host.size() - 2);  // an IPv6 address
  }
  if (options.host.empty()) refuse("--rendezvous", absl::StrCat("'", text, "' names no host"));
  options.port = static_cast<std::uint16_t>(port);
}

// "pair A B" or "pair:A:B".
Workload parse_pair(const std::string& pattern, const RawOptions& raw) {
  const std::vector<std::string> words = absl::StrSplit(pattern, absl::ByAnyChar(" :"), absl::SkipEmpty());
  Workload workload{raw.latency ? Operation::kPingPong : Operation::kPair};
  if (words.size() != 3 || words[0] != "pair" || !absl::SimpleAtoi(words[1], &workload.source) ||
      !absl::SimpleAtoi(words[2], &workload.destination)) {
    refuse("--pattern", absl::StrCat("'", pattern, "' is none of: opposite, neighbour, \"pair A B\", pair:A:B"));
  }
  const int ranks = raw.options.ranks;
  if (workload.source < 0 || workload.source >= ranks || workload.destination < 0 || workload.destination >= ranks ||
      workload.source == workload.destination) {
    refuse("--pattern", absl::StrCat("'", pattern, "' needs two different ranks from 0 to ", ranks - 1));
  }
  return workload;
}

void add_patterns(const RawOptions& raw, std::vector<Workload>& workloads) {
  for (const std::string& pattern : raw.patterns) {
    if (pattern == "opposite" && !raw.latency) {
      workloads.push_back({Operation::kOpposite});
    } else if (pattern == "neighbour" && !raw.latency) {
      workloads.push_back({Operation::kNeighbour});
    } else {
      workloads.push_back(parse_pair(pattern, raw));
    }
  }
}

std::vector<Workload> all_workloads(RawOptions raw) {
  const bool all = std::ranges::find(raw.operations, "all") != raw.operations.end();
  if (all) {
    const bool pipeline = std::ranges::find(raw.operations, "pipeline") != raw.operations.end();
    raw.operations = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "sendrecv"};
    if (pipeline) raw.operations.push_back("pipeline");
    if (raw.algorithms.empty()) raw.algorithms = {"ring", "tree"};
  }
  if (raw.latency) raw.operations = {"sendrecv"};
  if (raw.operations.empty()) raw.operations = {"all_reduce"};
  if (raw.algorithms.empty()) raw.algorithms = {"ring"};
  if (raw.patterns.empty()) raw.patterns = {raw.latency ? "pair 0 1" : "opposite"};
  std::vector<Workload> workloads;
  for (const std::string& operation : raw.operations) {
    if (operation == "all_reduce") {
      for (const std::string& algorithm : raw.algorithms) {
        workloads.push_back({algorithm == "tree" ? Operation::kAllReduceTree : Operation::kAllReduceRing});
      }
    } else if (operation == "all_gather") {
      workloads.push_back({Operation::kAllGather});
    } else if (operation == "reduce_scatter") {
      workloads.push_back({Operation::kReduceScatter});
    } else if (operation == "broadcast") {
      workloads.push_back({Operation::kBroadcast});
    } else if (operation == "reduce") {
      workloads.push_back({Operation::kReduce});
    } else if (operation == "pipeline") {
      workloads.push_back({.operation = Operation::kPipeline, .micro_batches = raw.micro_batches});
    } else if (operation == "all_to_all") {
      workloads.push_back({Operation::kAllToAll});
    } else {
      add_patterns(raw, workloads);
    }
  }
  return workloads;
}

std::vector<std::uint64_t> all_sizes(const RawOptions& raw) {
  if (!raw.sizes.empty()) return raw.sizes;
  if (raw.max == 0 && raw.min != 0) refuse("--min", "needs --max");
  if (raw.max == 0) return raw.latency ? std::vector<std::uint64_t>{8} : std::vector<std::uint64_t>{8, 65536, 1 << 20};
  if (raw.min == 0 || raw.min > raw.max) refuse("--min", "must be from 1 to --max");
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = raw.min; size <= raw.max; size *= raw.factor) sizes.push_back(size);
  return sizes;
}

void check_step_bytes(const Options& options) {
  if (options.step_bytes % kLine != 0 || options.step_bytes > (std::uint64_t{1} << 30)) {
    refuse("--step-bytes", "must be a multiple of 128, at most 1G");
  }
  for (const Workload& workload : options.workloads) {
    for (std::uint64_t size : options.sizes) {
      if (size <= kMaxBytes && size / step_bytes_of(options, workload) <= kMaxMessages) continue;
      refuse("--sizes", absl::StrCat(size, " bytes would exceed ", kMaxMessages, " messages or ", kMaxBytes,
                                     " bytes: choose a smaller size or a larger --step-bytes"));
    }
  }
}

// Sets the values that depend on several options, and rejects conflicting ones.
Options complete(RawOptions raw) {
  Options& options = raw.options;
  if (options.rank >= options.ranks) {
    refuse("--rank",
           absl::StrCat(options.rank, " is not from 0 to ", options.ranks - 1, " (--ranks ", options.ranks, ")"));
  }
  if (raw.rendezvous.empty()) {
    const char* const host = environment("MASTER_ADDR");
    const char* const port = environment("MASTER_PORT");
    if (host == nullptr || port == nullptr) {
      refuse("--rendezvous", "is required: HOST:PORT of rank 0 (or set MASTER_ADDR and MASTER_PORT)");
    }
    raw.rendezvous = absl::StrCat(host, ":", port);
  }
  parse_rendezvous(raw.rendezvous, options);
  options.workloads = all_workloads(raw);
  options.sizes = all_sizes(raw);
  check_step_bytes(options);
  if (options.check_all && !options.check) refuse("--check-all", "conflicts with --no-check");
  if (options.iterations == 0 && options.seconds > 0) refuse("--seconds", "needs --iters of 1 or more");
  if (options.iterations == 0 && options.wall_seconds > 0) refuse("--wall-seconds", "needs --iters of 1 or more");
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(raw.timeout_s * 1000));
  options.peer_grace = std::chrono::milliseconds(static_cast<std::int64_t>(raw.grace_s * 1000));
  options.idle = std::chrono::microseconds(raw.idle_us);
  const char* const log = environment("CABLEWAY_LOG");
  const std::string_view level = log == nullptr ? "" : log;
  options.trace = level == "debug";
  options.verbose = options.verbose || options.trace || level == "info";
  return options;
}

void add_place_options(CLI::App& app, RawOptions& raw) {
  Options& o = raw.options;
  o.plugin = "libnccl-net.so";
  app.add_option("--plugin", o.plugin, "The net plugin: a path, or NAME for libnccl-net-NAME.so")
      ->envname("NCCL_NET_PLUGIN")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--abi", o.abi, "Version of the plugin's table, 8 to 12 [the newest it exports]")
      ->check(CLI::Range(8, 12));
  app.add_option("--device", o.device, "Device of the plugin")->check(CLI::Range(0, 1023))->capture_default_str();
  app.add_option("--rank", o.rank, "This rank, from 0")
      ->envname("RANK")
      ->required()
      ->check(CLI::Range(0, kMaxRanks - 1));
  app.add_option("--ranks", o.ranks, "Number of ranks")
      ->envname("WORLD_SIZE")
      ->required()
      ->check(CLI::Range(2, kMaxRanks));
  app.add_option("--rendezvous", raw.rendezvous,
                 "HOST:PORT where rank 0 listens and the others connect [MASTER_ADDR:MASTER_PORT]");
}

void add_work_options(CLI::App& app, RawOptions& raw) {
  Options& o = raw.options;
  app.add_option("--op", raw.operations,
                 "Operations, separated by commas: all_reduce, all_gather, reduce_scatter, broadcast, reduce, "
                 "all_to_all, sendrecv, "
                 "pipeline, or all, which excludes pipeline")
      ->delimiter(',')
      ->check(CLI::IsMember({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all",
                             "sendrecv", "pipeline", "all"}));
  app.add_option("--algo", raw.algorithms,
                 "Algorithms of all_reduce: ring, tree, or ring,tree [ring; both with --op all]")
      ->delimiter(',')
      ->check(CLI::IsMember({"ring", "tree"}));
  app.add_option("--pattern", raw.patterns,
                 "Patterns of sendrecv, separated by commas: opposite (r to r+N/2), neighbour (r to r+1), \"pair A B\" "
                 "(only A to B)")
      ->delimiter(',');
  app.add_option("--micro-batches", raw.micro_batches, "Number of micro-batches of pipeline")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_flag("--latency", raw.latency,
               "Round trips between the two ranks of --pattern \"pair A B\"; the times are half round trips");
  auto* const sizes = app.add_option("--sizes", raw.sizes, "Sizes, as 8,64K,1M [8,64K,1M]")
                          ->delimiter(',')
                          ->transform(CLI::AsSizeValue(false));
  app.add_option("--min", raw.min, "Smallest size, with --max")->transform(CLI::AsSizeValue(false))->excludes(sizes);
  app.add_option("--max", raw.max, "Largest size, with --min")->transform(CLI::AsSizeValue(false))->excludes(sizes);
  app.add_option("--factor", raw.factor, "Factor from one size to the next")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  app.add_option("--warmup", o.warmup, "Operations before the clock starts")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--iters", o.iterations, "Timed operations; 0 for checked ones only")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  CLI::Option* const measured = app.add_option("--seconds", o.seconds, "Repeat until this much time has been measured")
                                    ->check(CLI::Range(0.0, 86400.0));
  app.add_option("--wall-seconds", o.wall_seconds, "Repeat until this much time has passed, checks included")
      ->check(CLI::Range(0.0, 86400.0))
      ->excludes(measured);
}

void add_transfer_options(CLI::App& app, RawOptions& raw) {
  Options& o = raw.options;
  app.add_option("--channels", o.channels, "Channels, each with its own connections; small sizes use fewer")
      ->check(CLI::Range(1, nccl::abi::kMaxChannels))
      ->capture_default_str();
  app.add_option("--in-flight", o.in_flight, "Messages in flight per connection")
      ->check(CLI::Range(1, nccl::abi::kMaxRequests))
      ->capture_default_str();
  app.add_option("--step-bytes", o.step_bytes, "Largest message [512K; 128K for all_to_all and sendrecv, as NCCL]")
      ->transform(CLI::AsSizeValue(false));
  app.add_flag(
      "!--no-recv-hint", o.recv_hint,
      "Do not pass NCCL's hint that receive completions are optional (v9 and later); for plugins that act on it");
  app.add_option("--idle-us", raw.idle_us,
                 "When nothing moves, sleep this many microseconds; 0 yields the CPU, as NCCL does")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
}

void add_check_options(CLI::App& app, RawOptions& raw) {
  Options& o = raw.options;
  app.add_flag("--check,!--no-check", o.check,
               "Check every byte of the last timed operation and of --check-iters [yes]");
  app.add_option("--check-iters", o.check_iterations, "Checked operations with fresh data after the timed ones")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--check-all", o.check_all, "Also use fresh data for each timed operation, and check them all");
  app.add_option("--timeout", raw.timeout_s,
                 "Time limit in seconds: for all ranks to join, to connect, and without any progress")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  app.add_option("--peer-grace", raw.grace_s, "Seconds for the plugin to report by itself that another rank failed")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  app.add_option("--json", o.json, "Rank 0 writes the results to this file; - for standard output instead of the table")
      ->type_name("FILE");
  app.add_flag("--progress", o.progress, "Rank 0 prints its progress every second");
  app.add_flag("--verbose", o.verbose, "Show the plugin's INFO lines (like CABLEWAY_LOG=info)");
}

void describe(CLI::App& app, RawOptions& raw) {
  app.name("collperf");
  app.description(
      "Runs collectives over an NCCL net plugin on host memory, without a GPU, and checks every byte.\n"
      "Start one process per rank. Exit status: 0 success, 1 wrong bytes, 2 invalid options, 3 failure.");
  add_place_options(app, raw);
  add_work_options(app, raw);
  add_transfer_options(app, raw);
  add_check_options(app, raw);
}

}  // namespace

void with_command_line(const std::function<void(const CLI::App&)>& read) {
  RawOptions raw;
  CLI::App app;
  describe(app, raw);
  read(app);
}

std::uint64_t step_bytes_of(const Options& options, const Workload& workload) {
  if (options.step_bytes != 0) return options.step_bytes;
  return is_point_to_point(workload) ? kPointToPointStep : kCollectiveStep;
}

nlohmann::json agreement_of(const Options& options) {
  nlohmann::json operations = nlohmann::json::array();
  for (const Workload& workload : options.workloads) {
    operations.push_back(absl::StrCat(operation_name(workload), " ", variant_name(workload)));
  }
  return {{"op", operations},
          {"sizes", options.sizes},
          {"warmup", options.warmup},
          {"iters", options.iterations},
          {"seconds", options.seconds},
          {"wall-seconds", options.wall_seconds},
          {"channels", options.channels},
          {"in-flight", options.in_flight},
          {"step-bytes", options.step_bytes},
          {"check", options.check},
          {"check-all", options.check_all},
          {"check-iters", options.check_iterations}};
}

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  RawOptions raw;
  CLI::App app;
  describe(app, raw);
  try {
    app.parse(argc, argv);
    return complete(std::move(raw));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
}

}  // namespace cableway::collperf
