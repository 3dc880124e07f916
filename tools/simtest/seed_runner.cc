#include "tools/simtest/seed_runner.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <ratio>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "routing/text/node_name.h"
#include "sim/simtest/plan/shrink.h"
#include "sim/simtest/plan/soak_plan.h"
#include "sim/simtest/saturation.h"
#include "sim/simtest/scenario_file.h"

namespace cableway::simtest {
namespace {

constexpr std::size_t kMaxShrinks = 200;
constexpr std::chrono::seconds kShrinkTime{20};

std::string replay_command(std::uint64_t seed, const sim::FaultPlan& faults) {
  return absl::StrCat("simtest --replay ", seed, ":", sim::to_text(faults));
}

// Shrinks the fault plan within a time limit: an early report is worth more than a small plan.
sim::FaultPlan smaller(const sim::SimtestPlan& plan, int rule) {
  const auto begin = std::chrono::steady_clock::now();
  return sim::shrink(plan.faults, kMaxShrinks, [&](const sim::FaultPlan& faults) {
    if (std::chrono::steady_clock::now() - begin > kShrinkTime) return false;
    sim::SimtestPlan part = plan;
    part.faults = faults;
    const std::optional<sim::BrokenRule> broken = sim::run_simtest(part).broken;
    return broken.has_value() && broken->rule == rule;
  });
}

void note_failure(SimtestReport& report, const std::string& name, const std::string& replay) {
  const std::optional<sim::BrokenRule>& broken = report.result.broken;
  if (!broken.has_value()) return;
  report.failures.push_back(
      Failure{name, broken->rule, static_cast<double>(broken->at.since_start.count()) / 1e6, broken->what, replay});
}

SimtestReport run_graph(std::uint64_t seed, std::size_t max_nodes) {
  SimtestReport report;
  report.seed = seed;
  report.result = sim::run_saturation(seed, max_nodes);
  note_failure(report, absl::StrCat("graph ", seed),
               absl::StrCat("simtest --deadlock ", seed, " --most-nodes ", max_nodes));
  return report;
}

}  // namespace

absl::StatusOr<sim::SimtestPlan> plan_of(const Replay& replay) {
  sim::SimtestPlan plan = sim::make_simtest_plan(replay.seed);
  if (replay.faults.has_value()) plan.faults = *replay.faults;
  if (absl::Status status = sim::check_targets(plan); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--replay: seed ", replay.seed, ": ", status.message()));
  }
  return plan;
}

SimtestReport run_plan(const sim::SimtestPlan& plan, const std::string& name, const std::string& replay, bool twice) {
  SimtestReport report;
  report.seed = plan.seed;
  report.result = sim::run_simtest(plan);
  if (twice && report.result.broken == std::nullopt) {
    const std::uint64_t again = sim::run_simtest(plan).trace;
    if (again != report.result.trace) {
      report.result.broken = sim::BrokenRule{
          8, Instant{}, absl::StrCat("a second run has another trace: ", report.result.trace, " and ", again)};
    }
  }
  note_failure(report, name, replay);
  return report;
}

SimtestReport run_soak(const Soak& soak) {
  using Wall = std::chrono::steady_clock;
  constexpr std::chrono::seconds kProgressEvery{2};
  const auto begin = Wall::now();
  auto next = begin + kProgressEvery;
  const auto show_progress = [&](const sim::SimtestResult& so_far) {
    const auto now = Wall::now();
    if (now < next) return;
    next = now + kProgressEvery;
    const auto hours = [](Duration time) { return std::chrono::duration<double, std::ratio<3600>>(time).count(); };
    std::fputs(absl::StrFormat("simtest: %.2f of %.2f hours after %.0f s, %d verdicts\n", hours(so_far.virtual_time),
                               hours(soak.lasts), std::chrono::duration<double>(now - begin).count(),
                               so_far.silent + so_far.still)
                   .c_str(),
               stderr);
  };
  SimtestReport report;
  report.seed = soak.seed;
  report.result = sim::run_simtest(sim::make_soak_plan(soak.seed, soak.lasts), show_progress);
  const double hours = std::chrono::duration<double, std::ratio<3600>>(soak.lasts).count();
  note_failure(report, absl::StrCat("soak ", soak.seed), absl::StrCat("simtest --soak ", hours, ":", soak.seed));
  return report;
}

absl::StatusOr<SimtestReport> run_scenario(const std::string& file, bool twice) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) return absl::InvalidArgumentError(absl::StrCat(routing::escaped(file), ": cannot be read"));
  const absl::StatusOr<sim::Scenario> scenario = sim::parse_scenario(text.str(), file);
  if (!scenario.ok()) return scenario.status();
  const std::string replay = absl::StrCat("simtest --scenario ", file);
  SimtestReport report = run_plan(scenario->plan, file, replay, twice);
  if (!report.failures.empty()) return report;
  if (absl::Status status = sim::check_expectations(*scenario, report.result); !status.ok()) {
    report.failures.push_back(Failure{file, 0, 0, std::string(status.message()), replay});
  }
  return report;
}

SimtestReport run_seed(std::uint64_t seed, const Options& options) {
  if (options.saturation) return run_graph(seed, options.max_nodes);
  const sim::SimtestPlan plan = sim::make_simtest_plan(seed);
  SimtestReport report = run_plan(plan, absl::StrCat("seed ", seed), replay_command(seed, plan.faults), options.twice);
  if (!report.failures.empty() && options.shrink && report.failures.front().rule != 8) {
    report.failures.front().replay = replay_command(seed, smaller(plan, report.failures.front().rule));
  }
  return report;
}

}  // namespace cableway::simtest
