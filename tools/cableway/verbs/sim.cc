#include "tools/cableway/verbs/sim.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"
#include "sim/flow_model/added_cable.h"
#include "sim/flow_model/cable_bound.h"
#include "sim/flow_model/failures.h"
#include "sim/prediction/flow_prediction.h"
#include "sim/prediction/prediction.h"
#include "sim/prediction/simulated_size.h"
#include "tools/cableway/node/topology_source.h"
#include "tools/cableway/sim/mix_bound.h"
#include "tools/cableway/sim/sim_compare.h"
#include "tools/cableway/sim/sim_html.h"
#include "tools/cableway/sim/sim_job.h"
#include "tools/cableway/sim/sim_json.h"
#include "tools/cableway/sim/sim_report.h"
#include "tools/cableway/sim/sim_text.h"
#include "tools/cableway/sim/what_if_view.h"
#include "tools/cableway/text/named_file.h"
#include "tools/cableway/text/progress_line.h"
#include "tools/cableway/text/quantity_text.h"

namespace cableway::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kTimelineSamples = 240;
// With more cases, failures of two cables are skipped: their results would take too much memory.
constexpr std::size_t kMaxFailureCases = 1'000'000;

double seconds_since(steady_clock::time_point began) {
  return std::chrono::duration<double>(steady_clock::now() - began).count();
}

// The options of a run, and where to show its progress.
struct Context {
  const SimOptions& options;
  const Invocation& invocation;

  ProgressLine progress_line() const {
    const Surroundings& surroundings = invocation.surroundings;
    return {invocation.err, options.progress || surroundings.err_is_terminal, surroundings.progress_patience};
  }
};

Answer not_usable(const absl::Status& status) {
  return Answer{"", kNotUsable, {std::string(status.message())}};
}

absl::StatusOr<Answer> compare(const Context& context) {
  std::vector<SimResult> results;
  for (const std::string& file : context.options.compare) {
    const absl::StatusOr<std::string> text = read_named_file(file, kMaxSimResultBytes + 1);
    if (!text.ok()) return text.status();
    absl::StatusOr<SimResult> result = parse_sim_result(*text, file);
    if (!result.ok()) return result.status();
    results.push_back(*std::move(result));
  }
  return Answer{context.options.json ? comparison_json(results[0], results[1])
                                     : comparison_text(results[0], results[1])};
}

absl::StatusOr<Answer> what_if(const Context& context, const std::string& source, const routing::Topology& topology) {
  const auto began = steady_clock::now();
  ProgressLine line = context.progress_line();
  const auto shows = [&line](const char* what) {
    return [&line, what](std::size_t done, std::size_t all) {
      line.show(static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(all, 1)), what);
    };
  };
  sim::FailureSettings failing;
  const std::size_t cables = routing::physical_cables(topology).cables.size();
  failing.two_cables = sim::failure_case_count(topology.node_count(), cables, true) <= kMaxFailureCases;
  failing.progress = shows("failures");
  absl::StatusOr<sim::FailureReport> failures = sim::analyse_failures(topology, failing);
  if (!failures.ok()) return failures.status();
  sim::AddedCableSettings adding;
  adding.progress = shows("one more cable");
  absl::StatusOr<sim::AddedCableReport> added = sim::find_best_added_cable(topology, adding);
  if (!added.ok()) return added.status();
  const WhatIf found{topology, source, *std::move(failures), *std::move(added), seconds_since(began)};
  return Answer{context.options.json ? what_if_json(found) : what_if_text(found, context.options.all)};
}

absl::StatusOr<sim::Prediction> carry_out(const Context& context, const SimReport& report) {
  const sim::PredictionLevel level =
      report.level == "flow" ? sim::PredictionLevel::kFlow : sim::PredictionLevel::kChunk;
  const std::uint64_t free_bytes = context.invocation.surroundings.free_memory();
  if (absl::Status fits = sim::check_simulated_size(report.topology, report.request, level, free_bytes); !fits.ok()) {
    return fits;
  }
  if (level == sim::PredictionLevel::kFlow) {
    ProgressLine line = context.progress_line();
    sim::PredictionRequest request = report.request;
    request.progress = [&line](double share, double) { line.show(share, "sharing bandwidth,"); };
    return sim::predict_flow_level(report.topology, request);
  }
  ProgressLine line = context.progress_line();
  sim::PredictionRequest request = report.request;
  request.timeline_samples = context.options.html.empty() ? 0 : kTimelineSamples;
  request.progress = [&](double share, double virtual_s) {
    line.show(share, absl::StrCat("simulating, ", seconds_text(virtual_s), " so far,"));
  };
  return sim::predict(report.topology, request);
}

void find_bound(const Context& context, SimReport& report) {
  ProgressLine line = context.progress_line();
  sim::ConcurrentFlowSettings settings;
  settings.progress = [&line](std::size_t trees, std::size_t most) {
    line.show(static_cast<double>(trees) / static_cast<double>(most), "computing the bound, at most");
  };
  const absl::StatusOr<sim::CableBound> bound = job_bound(report.topology, report.request, settings);
  if (!bound.ok()) {
    report.no_bound = std::string(bound.status().message());
    return;
  }
  const std::string method(sim::method_name(bound->method));
  report.bound =
      ReportBound{bound->seconds, report.request.mix ? absl::StrCat("groups in turn, ", method) : method, bound->gap};
}

// Predicts the job without every cable that was cut while it ran, whether or not that ended the job.
void predict_on_cables_left(SimReport& report) {
  std::vector<routing::CableIndex> gone;
  for (const sim::CutEffect& effect : report.prediction.cuts) {
    if (!effect.happened) continue;
    std::vector<routing::CableIndex> both;
    std::set_union(gone.begin(), gone.end(), effect.wire.begin(), effect.wire.end(), std::back_inserter(both));
    gone = std::move(both);
  }
  if (gone.empty()) return;
  const absl::StatusOr<sim::Prediction> intact = sim::predict_flow_level(report.topology, report.request);
  if (!intact.ok() || intact->time_s <= 0) return;
  report.left = JobOnCablesLeft{intact->time_s, 0, ""};
  const absl::StatusOr<sim::Prediction> without =
      sim::predict_flow_level(sim::without_cables(report.topology, gone), report.request);
  if (without.ok()) {
    report.left->without_s = without->time_s;
  } else {
    report.left->impossible = std::string(without.status().message());
  }
}

absl::StatusOr<Answer> run_workload(const Context& context, const SimPlan& plan, std::string source,
                                    routing::Topology topology) {
  const SimOptions& options = context.options;
  const auto began = steady_clock::now();
  absl::StatusOr<sim::PredictionRequest> request = make_request(options, plan, topology);
  if (!request.ok()) return request.status();
  // A workload error is a usage error; a mix error is a file error.
  if (absl::Status fits = check_fit(*request); !fits.ok()) {
    if (plan.workload || request->ranks.size() < 2) return not_usable(fits);
    return absl::InvalidArgumentError(absl::StrCat(routing::escaped(options.mix), ": ", fits.message()));
  }
  SimReport report{std::move(topology),
                   std::move(source),
                   plan.workload ? options.workload : options.mix,
                   options.level,
                   context.invocation.command_line,
                   *std::move(request),
                   {},
                   std::nullopt,
                   {},
                   std::nullopt,
                   0};
  absl::StatusOr<sim::Prediction> prediction = carry_out(context, report);
  if (!prediction.ok()) return prediction.status();
  report.prediction = *std::move(prediction);
  report.elapsed_s = seconds_since(began);
  find_bound(context, report);
  predict_on_cables_left(report);
  Answer answer{context.options.json ? sim_json(report) : sim_text(report, options.all)};
  if (!options.html.empty()) {
    if (absl::Status status = write_named_file(options.html, sim_html(report)); !status.ok()) return status;
  }
  if (report.prediction.early_end) answer.exit_status = kJobEnded;
  return answer;
}

// Checks before the simulation that the report can be written and does not overwrite an input.
absl::Status check_html(const SimOptions& options) {
  const std::string& html = options.html;
  for (const std::string& input : {options.topology, options.mix}) {
    if (std::error_code ignored; !input.empty() && std::filesystem::equivalent(html, input, ignored)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--html ", routing::in_quotes(html), " is an input; expected another file"));
    }
  }
  return check_writable(html);
}

class SimVerb final : public Verb {
 public:
  Command describe() override {
    return {.name = "sim",
            .summary = "predicts the time of a workload on a topology, and the effect of failures",
            .notes =
                "It runs the code of the relays and flow ends in virtual time; nothing is sent. docs/simulator.md "
                "describes the model.",
            .exit_statuses = {{kJobEnded, "a cut cable ended the job, as a flow had no path left"}},
            .examples = {"cableway sim --topology ring:8 --workload all_reduce:256MiB",
                         "cableway sim --topology torus:4x4@100Gbit/s --workload all_to_all:1GiB --html report.html",
                         "cableway sim --topology ring:8 --workload all_reduce:256MiB --fail cable:0-1@10ms",
                         "cableway sim --topology cluster.toml --mix job.toml --json > a.json",
                         "cableway sim --compare a.json b.json", "cableway sim --topology ring:8 --what-if"},
            .arguments = sim_arguments(options_)};
  }

  absl::StatusOr<Answer> run(const Invocation& invocation) override {
    const Context context{options_, invocation};
    if (!options_.compare.empty()) return compare(context);
    SimPlan plan;
    if (!options_.what_if) {
      absl::StatusOr<SimPlan> made = make_plan(options_);
      if (!made.ok()) return not_usable(made.status());
      plan = *std::move(made);
    }
    if (!options_.html.empty()) {
      if (absl::Status status = check_html(options_); !status.ok()) return status;
    }
    absl::StatusOr<KnownTopology> known =
        find_topology(invocation.settings, options_.topology, invocation.surroundings.node_deadline);
    if (!known.ok()) return known.status();
    const std::string source = options_.topology.empty() ? absl::StrCat("node ", known->node) : options_.topology;
    if (options_.what_if) return what_if(context, source, known->topology);
    return run_workload(context, plan, source, std::move(known->topology));
  }

 private:
  SimOptions options_;
};

}  // namespace

std::unique_ptr<Verb> sim_verb() {
  return std::make_unique<SimVerb>();
}

}  // namespace cableway::cli
