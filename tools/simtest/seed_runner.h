// Runs one simulation test, and if it breaks a rule searches for a smaller plan that does.
#ifndef CABLEWAY_TOOLS_SIMTEST_SEED_RUNNER_H_
#define CABLEWAY_TOOLS_SIMTEST_SEED_RUNNER_H_

#include <string>

#include "absl/status/statusor.h"
#include "sim/simtest/plan/simtest_plan.h"
#include "tools/simtest/options.h"
#include "tools/simtest/run_report.h"

namespace cableway::simtest {

// InvalidArgument names a fault whose target does not exist in the seed's world.
absl::StatusOr<sim::SimtestPlan> plan_of(const Replay& replay);

SimtestReport run_seed(std::uint64_t seed, const Options& options);
// Progress goes to standard error after two seconds.
SimtestReport run_soak(const Soak& soak);
// InvalidArgument: the file cannot be read, or is not a scenario.
absl::StatusOr<SimtestReport> run_scenario(const std::string& file, bool twice);
// `name`: as shown in reports; `replay`: the command that runs it again.
SimtestReport run_plan(const sim::SimtestPlan& plan, const std::string& name, const std::string& replay, bool twice);

}  // namespace cableway::simtest

#endif  // CABLEWAY_TOOLS_SIMTEST_SEED_RUNNER_H_
