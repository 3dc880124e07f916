#include "tools/cableway/sim/sim_options.h"

#include <CLI/CLI.hpp>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"

namespace cableway::cli {
namespace {

absl::StatusOr<std::uint32_t> chunk_size(const std::string& text) {
  const absl::StatusOr<std::uint64_t> bytes = workload::parse_size(text);
  if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat("--chunk: ", bytes.status().message()));
  if (*bytes % kLineBytes != 0 || *bytes == 0 || *bytes > kMaxChunkBytes) {
    return absl::InvalidArgumentError(absl::StrCat("--chunk ", text, ": expected a multiple of ", kLineBytes,
                                                   " bytes, at most ", workload::size_text(kMaxChunkBytes)));
  }
  return static_cast<std::uint32_t>(*bytes);
}

// A shell's variable that is not set: not what was meant, and not the same as no option.
const CLI::Validator kNotEmpty([](const std::string& text) { return text.empty() ? "is empty" : std::string(); }, "");

void add_workload_options(CLI::App& command, SimOptions& options) {
  command.add_option(
      "--workload", options.workload,
      "OPERATION:SIZE[,VARIANT]: all_reduce (ring, tree), all_gather, reduce_scatter, broadcast, reduce,\n"
      "all_to_all, sendrecv (opposite, neighbour, SOURCE-DESTINATION), pingpong (SOURCE-DESTINATION),\n"
      "pipeline (micro-batches); as in all_reduce:256MiB,tree");
  command.add_option("--mix", options.mix, "what groups of ranks do, from this file (TOML), instead of one workload");
  command.add_option("--rank-order", options.rank_order,
                     "the node of each rank: names or numbers, N0,N1,..; or best, as `cableway plan ranks` finds it.\n"
                     "Default: one rank on each node, in the nodes' order");
  command.add_option("--channels", options.channels, "of each connection, as NCCL has them")
      ->check(CLI::Range(1, kMaxSimChannels))
      ->capture_default_str();
  command.add_option("--repeat", options.repeat, "so many operations, one after the other")
      ->check(CLI::Range(1, kMaxSimRepeats))
      ->capture_default_str();
}

void add_world_options(CLI::App& command, SimOptions& options) {
  command
      .add_option("--fail", options.fail,
                  "cut a cable while the workload runs: cable:NAME@TIME or cable:A-B@TIME (nodes), with all cables of "
                  "its wire.\nMay be given several times")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--level", options.level,
                  "chunk: every chunk, through the relays' and flow ends' own code; flow: shares of bandwidth only, "
                  "for large systems")
      ->check(CLI::IsMember({"chunk", "flow"}))
      ->capture_default_str();
  command.add_option("--chunk", options.chunk, "how large chunks are")->capture_default_str();
  command.add_option("--mtu", options.mtu, "of the cables' ports, in bytes")
      ->check(CLI::Range(kLeastMtu, kMaxMtu))
      ->capture_default_str();
  command.add_option("--relay-time", options.relay_time_us, "us that a relay's thread takes for a chunk")
      ->check(CLI::Range(0.0, kMaxRelayTimeUs))
      ->capture_default_str();
  command.add_option("--leases", options.leases, "slots in each relay's pool, beside one for each circuit")
      ->check(CLI::Range(0, kMaxSimLeases))
      ->capture_default_str();
}

}  // namespace

void add_sim_options(CLI::App& command, SimOptions& options) {
  add_workload_options(command, options);
  add_world_options(command, options);
  command.add_option("--html", options.html, "also write a report to this file, for a browser");
  command.add_flag("--all", options.all, "show all cables and cases, not only the worst");
  command.add_flag("--progress", options.progress, "show progress although standard error is no terminal");
  for (const char* name : {"--workload", "--mix", "--rank-order", "--fail", "--html"}) {
    command.get_option(name)->check(kNotEmpty);
  }
  CLI::Option* what_if =
      command.add_flag("--what-if", options.what_if,
                       "every failure of one and two cables and of one node, and which added cable helps most");
  CLI::Option* compare =
      command.add_option("--compare", options.compare, "two results of --json, side by side")->expected(2);
  compare->check(kNotEmpty);
  what_if->excludes(compare);
  // What would be ignored was meant for something else.
  for (const char* name : {"--workload", "--mix", "--rank-order", "--fail", "--html", "--channels", "--repeat",
                           "--level", "--chunk", "--mtu", "--relay-time", "--leases"}) {
    what_if->excludes(command.get_option(name));
    compare->excludes(command.get_option(name));
  }
  for (const char* name : {"--topology", "--all", "--progress"}) compare->excludes(command.get_option(name));
  command.get_option("--mix")->excludes(command.get_option("--workload"))->excludes(command.get_option("--repeat"));
}

absl::StatusOr<SimPlan> make_plan(const SimOptions& options) {
  SimPlan plan;
  if (options.workload.empty() && options.mix.empty()) {
    return absl::InvalidArgumentError(
        "what is to be simulated? Expected --workload, --mix, --what-if or --compare; see cableway sim --help");
  }
  if (!options.workload.empty()) {
    absl::StatusOr<workload::SizedWorkload> sized = workload::parse_workload(options.workload);
    if (!sized.ok()) return sized.status();
    plan.workload = *std::move(sized);
  }
  for (const std::string& text : options.fail) {
    absl::StatusOr<FailSpec> spec = parse_fail_spec(text);
    if (!spec.ok()) return spec.status();
    plan.failures.push_back(*std::move(spec));
  }
  if (!options.fail.empty() && options.level == "flow") {
    return absl::InvalidArgumentError("--fail needs --level chunk: at flow level nothing happens to a flow");
  }
  if (std::isnan(options.relay_time_us)) {
    return absl::InvalidArgumentError(absl::StrCat("--relay-time: expected a number from 0 to ", kMaxRelayTimeUs));
  }
  const absl::StatusOr<std::uint32_t> chunk = chunk_size(options.chunk);
  if (!chunk.ok()) return chunk.status();
  plan.chunk_bytes = *chunk;
  return plan;
}

}  // namespace cableway::cli
