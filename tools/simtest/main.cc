// simtest: runs simulation tests of the protocol by seed.
#include <chrono>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/simtest/campaign.h"
#include "tools/simtest/options.h"
#include "tools/simtest/seed_runner.h"

namespace cableway::simtest {
namespace {

void show(const SimtestReport& report, const Options& options) {
  if (options.hashes) std::fputs(absl::StrFormat("%d %016x\n", report.seed, report.result.trace).c_str(), stdout);
  for (const Failure& failure : report.failures) {
    std::fputs(to_text(failure).c_str(), options.json ? stderr : stdout);
  }
}

absl::StatusOr<Summary> replay(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const absl::StatusOr<sim::SimtestPlan> made = plan_of(*options.replay);
  if (!made.ok()) return made.status();
  const sim::SimtestPlan& plan = *made;
  const std::string command = absl::StrCat("simtest --replay ", plan.seed, ":", sim::to_text(plan.faults));
  const SimtestReport report = run_plan(plan, absl::StrCat("seed ", plan.seed), command, options.twice);
  show(report, options);
  Summary summary;
  summary.add(report);
  summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return summary;
}

int refuse(const absl::Status& status) {
  std::fputs(absl::StrCat("simtest: ", status.message(), "\n").c_str(), stderr);
  return 2;
}

int run(const Options& options) {
  Summary summary;
  if (!options.scenario.empty()) {
    const auto begin = std::chrono::steady_clock::now();
    const absl::StatusOr<SimtestReport> report = run_scenario(options.scenario, options.twice);
    if (!report.ok()) return refuse(report.status());
    show(*report, options);
    summary.add(*report);
    summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } else if (options.soak.has_value()) {
    const auto begin = std::chrono::steady_clock::now();
    const SimtestReport report = run_soak(*options.soak);
    show(report, options);
    summary.add(report);
    summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } else if (options.replay.has_value()) {
    const absl::StatusOr<Summary> replayed = replay(options);
    if (!replayed.ok()) return refuse(replayed.status());
    summary = *replayed;
  } else {
    summary = run_campaign(options, [&](const SimtestReport& report) { show(report, options); });
  }
  if (!options.hashes) std::fputs((options.json ? to_json(summary) : to_text(summary)).c_str(), stdout);
  return summary.failures.empty() ? 0 : 1;
}

}  // namespace
}  // namespace cableway::simtest

int main(int argc, char** argv) {
  const cableway::simtest::ParsedOptions parsed = cableway::simtest::parse_options(argc, argv);
  return parsed.options.has_value() ? cableway::simtest::run(*parsed.options) : parsed.exit_status;
}
