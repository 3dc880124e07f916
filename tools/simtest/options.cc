#include "tools/simtest/options.h"

#include <algorithm>
#include <chrono>
#include <ratio>
#include <string_view>
#include <thread>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/simtest/plan/soak_plan.h"

namespace cableway::simtest {
namespace {

constexpr std::uint64_t kMaxSeeds = 1'000'000'000;

constexpr char kAbout[] =
    "Runs simulation tests: worlds of real Cableway nodes in virtual time, each with a graph, flows and faults derived "
    "from one seed. Every world is checked against the rules of docs/simtest.md. A seed that breaks a rule is shown "
    "with the command that replays it.";

constexpr char kFooter[] =
    "Exit status: 0 no rule was broken, 1 a rule was broken, 2 invalid arguments or file.\n"
    "Examples:\n"
    "  simtest --seeds 1..2000\n"
    "  simtest --deadlock 1..300\n"
    "  simtest --replay 17\n"
    "  simtest --replay 17:cut@1500+200:3:1\n"
    "  simtest --scenario tests/scenarios/flapping_cable.toml\n"
    "  simtest --soak 24";

}  // namespace

absl::StatusOr<SeedRange> parse_seeds(const std::string& text) {
  const std::size_t dots = text.find("..");
  SeedRange range;
  const std::string last = dots == std::string::npos ? text : text.substr(dots + 2);
  if (!absl::SimpleAtoi(text.substr(0, dots), &range.first) || !absl::SimpleAtoi(last, &range.last) ||
      range.last < range.first || range.last - range.first >= kMaxSeeds) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a range; expected A..B with A <= B, at most ", kMaxSeeds, " seeds"));
  }
  return range;
}

absl::StatusOr<Replay> parse_replay(const std::string& text) {
  const std::size_t colon = text.find(':');
  Replay replay;
  if (!absl::SimpleAtoi(text.substr(0, colon), &replay.seed)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--replay: \"", text, "\" has no seed; expected SEED or SEED:FAULTS"));
  }
  if (colon == std::string::npos) return replay;
  absl::StatusOr<sim::FaultPlan> faults = sim::parse_fault_plan(std::string_view(text).substr(colon + 1));
  if (!faults.ok()) return absl::InvalidArgumentError(absl::StrCat("--replay: ", faults.status().message()));
  replay.faults = *std::move(faults);
  return replay;
}

absl::StatusOr<Soak> parse_soak(const std::string& text) {
  const std::size_t colon = text.find(':');
  Soak soak;
  double hours = 0;
  const double most = std::chrono::duration<double, std::ratio<3600>>(sim::kMostSoak).count();
  const bool has_hours = absl::SimpleAtod(text.substr(0, colon), &hours) && hours > 0 && hours <= most;
  if (!has_hours || (colon != std::string::npos && !absl::SimpleAtoi(text.substr(colon + 1), &soak.seed))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--soak: \"", text, "\" is not valid; expected HOURS or HOURS:SEED, ", most, " hours at most"));
  }
  soak.lasts = std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::ratio<3600>>(hours));
  return soak;
}

ParsedOptions parse_options(int argc, const char* const* argv) {
  Options options;
  std::string seeds;
  std::string replay;
  std::string soak;
  bool keep = false;
  options.jobs = std::max(1U, std::thread::hardware_concurrency());
  CLI::App app(kAbout, "simtest");
  app.footer(kFooter);
  app.add_option("--seeds", seeds, "Run these seeds: A..B, inclusive");
  std::string graphs;
  app.add_option("--deadlock", graphs, "Run all-to-all on the random graphs of these seeds to find deadlocks: A..B");
  app.add_option("--most-nodes", options.max_nodes, "Maximum number of nodes of a graph of --deadlock")
      ->check(CLI::Range(2, 1024));
  app.add_option("--replay", replay, "Run one seed again, with its own faults or the given ones: SEED[:FAULTS]");
  app.add_option("--scenario", options.scenario, "Run this scenario file (tests/scenarios)")->check(CLI::ExistingFile);
  app.add_option(
      "--soak", soak,
      "Run one world of busy hosts at full load, without a fault, for HOURS of virtual time: no cable may be found "
      "silent: HOURS[:SEED]");
  app.add_option("--jobs", options.jobs, "Number of processes that run seeds in parallel")->check(CLI::Range(1, 256));
  app.add_option("--stop-after", options.stop_after, "Stop after this many failures")->check(CLI::Range(1, 1'000'000));
  app.add_option("--seconds-per-seed", options.seconds_per_seed, "Time limit of a seed; a slower one has failed")
      ->check(CLI::Range(1, 3600));
  app.add_flag("--twice", options.twice, "Run everything twice: the traces must be equal");
  app.add_flag("--hashes", options.hashes, "Print each seed's trace hash");
  app.add_flag("--keep-faults", keep, "Do not search for a smaller plan that also fails");
  app.add_flag("--json", options.json, "Print the summary as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {std::nullopt, app.exit(error)};
    std::cerr << "simtest: " << error.what() << "; --help lists the options\n";
    return {std::nullopt, 2};
  }
  options.shrink = !keep;
  const auto refuse = [](const std::string& why) {
    std::cerr << "simtest: " << why << "; --help lists the options\n";
    return ParsedOptions{std::nullopt, 2};
  };
  if (!seeds.empty()) {
    absl::StatusOr<SeedRange> range = parse_seeds(seeds);
    if (!range.ok()) return refuse(std::string(range.status().message()));
    options.seeds = *range;
  }
  options.saturation = !graphs.empty();
  if (options.saturation) {
    if (!seeds.empty()) return refuse("expected one of --seeds and --deadlock");
    absl::StatusOr<SeedRange> range = parse_seeds(graphs);
    if (!range.ok()) return refuse(std::string(range.status().message()));
    options.seeds = *range;
  }
  if (!replay.empty()) {
    absl::StatusOr<Replay> parsed = parse_replay(replay);
    if (!parsed.ok()) return refuse(std::string(parsed.status().message()));
    options.replay = *std::move(parsed);
  }
  if (!soak.empty()) {
    absl::StatusOr<Soak> parsed = parse_soak(soak);
    if (!parsed.ok()) return refuse(std::string(parsed.status().message()));
    options.soak = *parsed;
  }
  const int ways = (options.seeds.has_value() ? 1 : 0) + (options.replay.has_value() ? 1 : 0) +
                   (options.scenario.empty() ? 0 : 1) + (options.soak.has_value() ? 1 : 0);
  if (ways != 1) return refuse("expected one of --seeds, --deadlock, --replay, --scenario and --soak");
  return {std::move(options), 0};
}

}  // namespace cableway::simtest
