#include "tools/collperf/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "nccl_adapter/abi/net_abi.h"

namespace cableway::collperf {
namespace {

using workload::WorkloadPattern;

constexpr std::uint64_t kCollectiveStep = std::uint64_t{512} * 1024;    // NCCL's buffer of 4 MiB in 8 steps
constexpr std::uint64_t kPointToPointStep = std::uint64_t{128} * 1024;  // NCCL's send/recv chunk
constexpr std::uint64_t kLine = 128;
constexpr std::uint64_t kMaxMessages = 1000000;  // per operation and rank: bounds a schedule's memory

constexpr std::size_t kMaxSizes = 10000;  // of a sweep

// The command line before the options are checked against each other.
struct RawOptions {
  Options options;
  PlacementRequest placement;
  std::string hosts;
  std::string host_file;
  std::string ssh = "ssh";
  std::vector<std::string> workloads;
  std::vector<std::string> sizes;
  std::string min_bytes = "32M";  // these three as nccl-tests
  std::string max_bytes = "32M";
  std::string step_bytes = "1M";
  int step_factor = 0;  // 0: add step_bytes
  std::string message_bytes = "0";
  bool no_recv_hint = false;
  double timeout_s = 60;
  double grace_s = 10;
  std::int64_t idle_us = 0;
};

[[noreturn]] void refuse(const std::string& option, const std::string& reason) {
  throw CLI::ValidationError(option, reason);
}

template <typename Value>
Value good_or_refuse(const std::string& option, absl::StatusOr<Value> value) {
  if (!value.ok()) refuse(option, std::string(value.status().message()));
  return *std::move(value);
}

// Called before any thread starts.
const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

std::uint64_t size_of(const std::string& option, const std::string& text) {
  return good_or_refuse(option, workload::parse_size(text));
}

// "all" stands for these, in both variants of all_reduce. Not for those without a counterpart in nccl-tests.
std::vector<WorkloadPattern> all_operations(std::optional<std::uint64_t> size) {
  std::vector<WorkloadPattern> patterns;
  for (const Operation operation :
       {Operation::kAllReduceRing, Operation::kAllReduceTree, Operation::kAllGather, Operation::kReduceScatter,
        Operation::kBroadcast, Operation::kReduce, Operation::kAllToAll, Operation::kOpposite}) {
    patterns.push_back({{operation}, size});
  }
  return patterns;
}

std::vector<WorkloadPattern> all_patterns(const RawOptions& raw) {
  std::vector<WorkloadPattern> patterns;
  for (const std::string& text : raw.workloads) {
    const std::string operation = text.substr(0, text.find(':'));
    if (operation != "all") {
      patterns.push_back(good_or_refuse("--workload", workload::parse_pattern(text)));
      continue;
    }
    std::optional<std::uint64_t> size;
    if (operation.size() < text.size()) size = size_of("--workload", text.substr(operation.size() + 1));
    for (const WorkloadPattern& each : all_operations(size)) patterns.push_back(each);
  }
  if (patterns.empty()) patterns.push_back({{Operation::kAllReduceRing}, std::nullopt});
  for (const WorkloadPattern& pattern : patterns) {
    const absl::Status fits = workload::check_ranks(pattern.workload, raw.options.place.ranks);
    if (!fits.ok()) refuse("--workload", std::string(fits.message()));
  }
  return patterns;
}

// The sizes of -b to -e, for workloads without one of their own.
std::vector<std::uint64_t> swept_sizes(const RawOptions& raw) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& text : raw.sizes) sizes.push_back(size_of("--sizes", text));
  if (!sizes.empty()) return sizes;
  const std::uint64_t least = size_of("--minbytes", raw.min_bytes);
  const std::uint64_t most = size_of("--maxbytes", raw.max_bytes);
  const std::uint64_t step = size_of("--stepbytes", raw.step_bytes);
  if (least > most) {
    refuse("--minbytes", absl::StrCat(workload::size_text(least), " is more than --maxbytes, ",
                                      workload::size_text(most), ": give both"));
  }
  if (step == 0) refuse("--stepbytes", "expected 1 byte or more");
  if (least == 0 && raw.step_factor > 0) refuse("--minbytes", "expected 1 byte or more with --stepfactor");
  for (std::uint64_t size = least; size <= most;) {
    if (sizes.size() == kMaxSizes) {
      refuse("--maxbytes", absl::StrCat("that makes more than ", kMaxSizes, " sizes: choose larger steps, or -f"));
    }
    sizes.push_back(size);
    size = raw.step_factor > 0 ? size * static_cast<std::uint64_t>(raw.step_factor) : size + step;
  }
  return sizes;
}

std::vector<SizedWorkload> all_work(const RawOptions& raw) {
  const std::vector<std::uint64_t> sizes = swept_sizes(raw);
  std::vector<SizedWorkload> work;
  for (const WorkloadPattern& pattern : all_patterns(raw)) {
    if (pattern.size) {
      work.push_back({pattern.workload, *pattern.size});
    } else {
      for (const std::uint64_t size : sizes) work.push_back({pattern.workload, size});
    }
  }
  return work;
}

void check_message_bytes(const Options& options) {
  if (options.step_bytes % kLine != 0 || options.step_bytes > (std::uint64_t{1} << 30)) {
    refuse("--step-bytes", "must be a multiple of 128, at most 1G");
  }
  for (const SizedWorkload& each : options.work) {
    if (each.size / step_bytes_of(options, each.workload) <= kMaxMessages) continue;
    refuse("--workload", absl::StrCat(workload::size_text(each.size), " would be more than ", kMaxMessages,
                                      " messages: choose a smaller size or a larger --step-bytes"));
  }
}

std::vector<HostSlots> read_host_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxHostListBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) refuse("--hostfile", absl::StrCat("cannot read ", path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return good_or_refuse("--hostfile", parse_host_file(text));
}

void place(RawOptions& raw) {
  Options& options = raw.options;
  if (!raw.hosts.empty()) raw.placement.hosts = good_or_refuse("--hosts", parse_hosts(raw.hosts));
  if (!raw.host_file.empty()) raw.placement.hosts = read_host_file(raw.host_file);
  absl::StatusOr<Placement> placed = place_ranks(raw.placement, environment, static_cast<std::uint32_t>(getpid()));
  // Its errors name the option or the variable themselves.
  if (!placed.ok()) throw CLI::ValidationError(std::string(placed.status().message()));
  options.place = *std::move(placed);
  options.ssh = absl::StrSplit(raw.ssh, ' ', absl::SkipEmpty());
  if (options.ssh.empty()) refuse("--ssh", "names no program");
}

// Sets the values that depend on several options, and rejects conflicting ones.
Options complete(RawOptions raw) {
  Options& options = raw.options;
  place(raw);
  options.step_bytes = size_of("--step-bytes", raw.message_bytes);
  options.work = all_work(raw);
  check_message_bytes(options);
  if (options.iterations == 0 && options.seconds > 0) refuse("--seconds", "needs --iters of 1 or more");
  if (options.iterations == 0 && options.wall_seconds > 0) refuse("--wall-seconds", "needs --iters of 1 or more");
  options.recv_hint = !raw.no_recv_hint;
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(raw.timeout_s * 1000));
  options.peer_grace = std::chrono::milliseconds(static_cast<std::int64_t>(raw.grace_s * 1000));
  options.idle = std::chrono::microseconds(raw.idle_us);
  const char* const log = environment("CABLEWAY_LOG");
  const std::string_view level = log == nullptr ? "" : log;
  options.trace = level == "debug";
  options.verbose = options.verbose || options.trace || level == "info";
  return options;
}

// Those that say where ranks run: a process that starts others replaces them.
constexpr std::array<std::string_view, 8> kPlaceOptions = {"rank",     "ranks", "rendezvous", "hosts",
                                                           "hostfile", "ssh",   "ngpus",      "launched"};

// The options that were given, but for the place, in a form that this parser takes.
std::vector<std::string> common_arguments(const CLI::App& app) {
  std::vector<std::string> arguments;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (option->count() == 0 || std::ranges::find(kPlaceOptions, name) != kPlaceOptions.end()) continue;
    for (const std::string& value : option->results()) arguments.push_back(absl::StrCat("--", name, "=", value));
  }
  return arguments;
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
  app.add_option("-g,--ngpus", raw.placement.per_process,
                 "Ranks that each process stands for: all of them without a launcher, or on each host of --hosts")
      ->check(CLI::Range(1, kMostRanks))
      ->capture_default_str();
  auto* const hosts = app.add_option("--hosts", raw.hosts, "Start the ranks on these hosts over ssh: h0,h1:SLOTS,..");
  app.add_option("--hostfile", raw.host_file, "The same from a file, one host a line: h0, h1:4 or h1 slots=4")
      ->excludes(hosts)
      ->type_name("FILE");
  app.add_option("--ssh", raw.ssh, "The program for --hosts, with its first arguments")->capture_default_str();
  app.add_option("--rank", raw.placement.rank, "This rank, from 0, instead of a launcher's")
      ->check(CLI::Range(0, kMostRanks - 1));
  app.add_option("--ranks", raw.placement.ranks, "Number of ranks, with --rank")->check(CLI::Range(2, kMostRanks));
  app.add_option("--rendezvous", raw.placement.rendezvous,
                 "HOST:PORT where rank 0 listens and the others connect [MASTER_ADDR:MASTER_PORT];\n"
                 "Open MPI does not tell the host: mpirun on several hosts needs -x MASTER_ADDR=HOST");
  app.add_flag("--launched", o.launched)->group("");  // for processes that this program starts
}

void add_size_options(CLI::App& app, RawOptions& raw) {
  auto* const sizes =
      app.add_option("--sizes", raw.sizes, "A list of sizes, as 8,64K,1M, instead of -b to -e")->delimiter(',');
  app.add_option("-b,--minbytes", raw.min_bytes, "Smallest size")->capture_default_str()->excludes(sizes);
  app.add_option("-e,--maxbytes", raw.max_bytes, "Largest size")->capture_default_str()->excludes(sizes);
  auto* const step = app.add_option("-i,--stepbytes", raw.step_bytes, "Bytes from one size to the next")
                         ->capture_default_str()
                         ->excludes(sizes);
  app.add_option("-f,--stepfactor", raw.step_factor, "Factor from one size to the next, instead of --stepbytes")
      ->check(CLI::Range(2, 1024))
      ->excludes(sizes)
      ->excludes(step);
}

void add_work_options(CLI::App& app, RawOptions& raw) {
  Options& o = raw.options;
  app.add_option("--workload", raw.workloads,
                 "OPERATION[:SIZE][,VARIANT], as of `cableway sim`; several are run one after the other:\n"
                 "all_reduce (ring, tree), all_gather, reduce_scatter, broadcast, reduce, all_to_all,\n"
                 "sendrecv (opposite, neighbour, SOURCE-DESTINATION), pingpong (SOURCE-DESTINATION),\n"
                 "pipeline (micro-batches); or all: those before pingpong, all_reduce in both variants [all_reduce]");
  add_size_options(app, raw);
  app.add_option("-w,--warmup_iters", o.warmup, "Operations before the clock starts")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("-n,--iters", o.iterations, "Timed operations; 0 for checked ones only")
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
  app.add_option("--step-bytes", raw.message_bytes,
                 "Largest message [512K; 128K for all_to_all and sendrecv, as NCCL]");
  app.add_flag(
      "--no-recv-hint", raw.no_recv_hint,
      "Do not pass NCCL's hint that receive completions are optional (v9 and later); for plugins that act on it");
  app.add_option("--idle-us", raw.idle_us,
                 "When nothing moves, sleep this many microseconds; 0 yields the CPU, as NCCL does")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
}

void add_check_options(CLI::App& app, RawOptions& raw) {
  Options& o = raw.options;
  app.add_option("-c,--check", o.check_iterations,
                 "Check every byte of the last timed operation, and of this many more with fresh data; 0: do not check")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--check-all", o.check_all, "Also use fresh data for each timed operation, and check them all");
  app.add_option("-T,--timeout", raw.timeout_s,
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
      "Runs collectives over an NCCL net plugin on host memory, without a GPU, and checks every byte. Options and "
      "table\n"
      "are those of nccl-tests. Ranks: -g N on this host, --hosts over ssh, or started by mpirun, srun or torchrun.");
  app.footer(routing::exit_line(exit_statuses()));
  add_place_options(app, raw);
  add_work_options(app, raw);
  add_transfer_options(app, raw);
  add_check_options(app, raw);
}

}  // namespace

std::vector<routing::ExitMeaning> exit_statuses() {
  return {{0, "success"},
          {1, "wrong bytes"},
          {2, "invalid options"},
          {3, "failure"},
          {128, "+ N after signal N where it started the ranks"}};
}

void with_command_line(const std::function<void(const CLI::App&)>& read) {
  RawOptions raw;
  CLI::App app;
  describe(app, raw);
  read(app);
}

bool checks(const Options& options) {
  return options.check_iterations > 0 || options.check_all;
}

std::uint64_t step_bytes_of(const Options& options, const Workload& workload) {
  if (options.step_bytes != 0) return options.step_bytes;
  return is_point_to_point(workload) ? kPointToPointStep : kCollectiveStep;
}

nlohmann::json agreement_of(const Options& options) {
  nlohmann::json work = nlohmann::json::array();
  for (const SizedWorkload& each : options.work) work.push_back(workload::workload_text(each));
  return {{"workload", work},
          {"warmup_iters", options.warmup},
          {"iters", options.iterations},
          {"seconds", options.seconds},
          {"wall-seconds", options.wall_seconds},
          {"channels", options.channels},
          {"in-flight", options.in_flight},
          {"step-bytes", options.step_bytes},
          {"check", options.check_iterations},
          {"check-all", options.check_all}};
}

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  RawOptions raw;
  CLI::App app;
  describe(app, raw);
  try {
    app.parse(argc, argv);
    raw.options.arguments = common_arguments(app);
    return complete(std::move(raw));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "collperf: %s; see collperf --help\n", error.what());
    return 2;
  }
}

}  // namespace cableway::collperf
