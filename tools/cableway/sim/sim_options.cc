#include "tools/cableway/sim/sim_options.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/flow/frame.h"
#include "routing/text/nearest_name.h"
#include "tools/cableway/node/topology_source.h"

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

// At flow level a flow is on its first path.
absl::StatusOr<CircuitShare> shares(const SimOptions& options) {
  if (options.multipath == "off") return CircuitShare::kNone;
  if (options.level == "flow") {
    if (options.multipath.empty()) return CircuitShare::kNone;
    return absl::InvalidArgumentError(
        absl::StrCat("--multipath ", options.multipath, " needs --level chunk: at flow level each flow has one path"));
  }
  return options.multipath == "bundle" ? CircuitShare::kBundle : CircuitShare::kAlternate;
}

// parse_workload(), with the operation that a mistyped one was probably meant to be.
absl::StatusOr<workload::SizedWorkload> parse_typed_workload(const std::string& text) {
  absl::StatusOr<workload::SizedWorkload> parsed = workload::parse_workload(text);
  const std::string operation = text.substr(0, text.find(':'));
  const std::span<const std::string_view> known = workload::operation_names();
  if (parsed.ok() || std::find(known.begin(), known.end(), operation) != known.end()) return parsed;
  return absl::InvalidArgumentError(
      absl::StrCat(parsed.status().message(), routing::did_you_mean(absl::AsciiStrToLower(operation), known)));
}

std::vector<Argument> workload_arguments(SimOptions& options) {
  return {
      text_option("--workload", "OPERATION:SIZE[,VARIANT]", options.workload,
                  "all_reduce (ring, tree), all_gather, reduce_scatter, broadcast, reduce, all_to_all,\n"
                  "sendrecv (opposite, neighbour, SOURCE-DESTINATION), pingpong (SOURCE-DESTINATION),\n"
                  "pipeline (micro-batches); as in all_reduce:256MiB,tree"),
      text_option("--mix", "FILE", options.mix,
                  "read the workloads of groups of ranks from this TOML file, instead of --workload")
          .excluding({"--workload", "--repeat"})
          .that_names(Argument::Names::kFiles),
      text_option("--rank-order", "ORDER", options.rank_order,
                  "the node of each rank: names or numbers, N0,N1,..; or best, as found by `cableway plan ranks`.\n"
                  "Default: one rank on each node, in the nodes' order")
          .that_names(Argument::Names::kNodes),
      number_option("--channels", 1, kMaxSimChannels, options.channels, "channels of each connection, as in NCCL"),
      number_option("--repeat", 1, kMaxSimRepeats, options.repeat, "number of operations, run one after the other")};
}

std::vector<Argument> world_arguments(SimOptions& options) {
  return {
      texts_option("--fail", "CABLE@TIME", options.fail,
                   "cut a cable while the workload runs: cable:NAME@TIME or cable:A-B@TIME (nodes), with all cables of "
                   "its wire.\nMay be given several times"),
      choice_option("--level", {"chunk", "flow"}, options.level,
                    "chunk: simulate every chunk with the code of the relays and flow ends; flow: only bandwidth "
                    "shares, for large systems"),
      choice_option("--multipath", {"off", "bundle", "all", "settled"}, options.multipath,
                    "paths that one flow uses at once, as CABLEWAY_MULTIPATH; settled: all, after the flows of a long\n"
                    "job have moved to even out the cables' loads. All but off need --level chunk.\n"
                    "Default: all; at --level flow: off"),
      text_option("--chunk", "SIZE", options.chunk, "size of a chunk"),
      number_option("--mtu", kLeastMtu, kMaxMtu, options.mtu, "MTU of the cables' ports, in bytes"),
      real_option("--relay-time", 0, kMaxRelayTimeUs, options.relay_time_us,
                  "microseconds of a relay's thread per chunk"),
      number_option("--leases", 0, kMaxSimLeases, options.leases,
                    "slots in each relay's pool, in addition to each circuit's own")};
}

}  // namespace

std::vector<Argument> sim_arguments(SimOptions& options) {
  std::vector<Argument> arguments = workload_arguments(options);
  for (Argument& argument : world_arguments(options)) arguments.push_back(std::move(argument));
  arguments.push_back(text_option("--html", "FILE", options.html, "also write an HTML report to this file")
                          .that_names(Argument::Names::kFiles));
  // Options that would be ignored are rejected.
  std::vector<std::string> of_a_workload;
  of_a_workload.reserve(arguments.size());
  for (const Argument& argument : arguments) of_a_workload.push_back(argument.name());
  arguments.insert(arguments.begin(),
                   {flag("--json", options.json, "as JSON"), topology_option(options.topology, "--topology,--file")});
  arguments.push_back(flag("--all", options.all, "show all cables and cases, not only the worst"));
  arguments.push_back(flag("--progress", options.progress, "show progress even if standard error is not a terminal"));
  arguments.push_back(flag("--what-if", options.what_if,
                           "instead of a workload: evaluate every failure of one cable, two cables and one node, and "
                           "the best places for one more cable")
                          .excluding(of_a_workload));
  arguments.push_back(
      two_texts_option("--compare", "A B", options.compare,
                       "instead of a workload and a topology: compare two results of --json side by side")
          .excluding(of_a_workload)
          .excluding({"--topology", "--all", "--progress", "--what-if"})
          .that_names(Argument::Names::kFiles));
  return arguments;
}

absl::StatusOr<SimPlan> make_plan(const SimOptions& options) {
  SimPlan plan;
  if (options.workload.empty() && options.mix.empty()) {
    return absl::InvalidArgumentError(
        "nothing to simulate: expected --workload, --mix, --what-if or --compare; see cableway sim --help");
  }
  if (!options.workload.empty()) {
    absl::StatusOr<workload::SizedWorkload> sized = parse_typed_workload(options.workload);
    if (!sized.ok()) return sized.status();
    plan.workload = *std::move(sized);
  }
  for (const std::string& text : options.fail) {
    absl::StatusOr<FailSpec> spec = parse_fail_spec(text);
    if (!spec.ok()) return spec.status();
    plan.failures.push_back(*std::move(spec));
  }
  if (!options.fail.empty() && options.level == "flow") {
    return absl::InvalidArgumentError("--fail needs --level chunk: flow level does not simulate failures");
  }
  const absl::StatusOr<std::uint32_t> chunk = chunk_size(options.chunk);
  if (!chunk.ok()) return chunk.status();
  plan.chunk_bytes = *chunk;
  const absl::StatusOr<CircuitShare> shared = shares(options);
  if (!shared.ok()) return shared.status();
  plan.shares = *shared;
  plan.settled = options.multipath == "settled";
  return plan;
}

}  // namespace cableway::cli
