// What `cableway sim` and `cableway routes` take of the memory, in processes of their own: the estimate that a
// simulation is checked by, and routes that are written row by row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "sim/prediction/flow_prediction.h"
#include "sim/prediction/prediction.h"
#include "sim/prediction/simulated_size.h"
#include "tests/slow_build.h"
#include "tests/tools/cableway/command_run.h"
#include "tools/cableway/sim/sim_job.h"
#include "tools/cableway/verbs/routes.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The largest resident memory of a child that runs `work`, in bytes.
std::uint64_t peak_of(const std::function<void()>& work) {
  ::malloc_trim(0);  // else the child would take pages that this process has freed and kept
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
  EXPECT_EQ(status, 0);
  return static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
}

// Without what a child has that does nothing.
std::uint64_t taken_by(const std::function<void()>& work) {
  return peak_of(work) - peak_of([] {});
}

struct Measured {
  const char* topology;
  const char* workload;
  sim::PredictionLevel level;
};

std::ostream& operator<<(std::ostream& out, const Measured& measured) {
  return out << measured.topology << " " << measured.workload;
}

class SimMemoryTest : public ::testing::TestWithParam<Measured> {};

TEST_P(SimMemoryTest, IsNearItsEstimate) {
  if (test::kSlowBuild) GTEST_SKIP() << "the memory of this build is not the product's";
  const routing::Topology topology = *routing::generate_topology(GetParam().topology);
  SimOptions options;
  options.topology = GetParam().topology;
  options.workload = GetParam().workload;
  const bool by_flow = GetParam().level == sim::PredictionLevel::kFlow;
  if (by_flow) options.level = "flow";
  const sim::PredictionRequest request = *make_request(options, *make_plan(options), topology);
  const sim::SimulatedSize size = *simulated_size(topology, request, GetParam().level);
  const std::uint64_t nothing = predicted_memory_bytes(topology, {}, {}, GetParam().level);
  const double estimate =
      static_cast<double>(predicted_memory_bytes(topology, request, size, GetParam().level) - nothing);
  const double taken = static_cast<double>(taken_by([&] {
    const auto done = by_flow ? sim::predict_flow_level(topology, request) : sim::predict(topology, request);
    if (!done.ok()) ::_exit(1);
  }));
  RecordProperty("estimate_MB", static_cast<int>(estimate / 1e6));
  RecordProperty("taken_MB", static_cast<int>(taken / 1e6));
  EXPECT_LT(estimate, sim::kEstimateFactor * taken) << taken / 1e6 << " MB";
  EXPECT_GT(estimate, taken / sim::kEstimateFactor) << taken / 1e6 << " MB";
}

INSTANTIATE_TEST_SUITE_P(Sim, SimMemoryTest,
                         ::testing::Values(Measured{"mesh:24", "all_to_all:1MiB", sim::PredictionLevel::kChunk},
                                           Measured{"ring:24", "all_to_all:1MiB", sim::PredictionLevel::kChunk},
                                           Measured{"line:24", "all_to_all:64KiB", sim::PredictionLevel::kChunk},
                                           Measured{"ring:8", "all_to_all:1GiB", sim::PredictionLevel::kChunk},
                                           Measured{"torus:6x6", "all_to_all:256KiB", sim::PredictionLevel::kChunk},
                                           Measured{"ring:160", "all_to_all:1MiB", sim::PredictionLevel::kFlow},
                                           Measured{"mesh:160", "all_to_all:1MiB", sim::PredictionLevel::kFlow}));

TEST(SimMemory, TooMuchIsRefusedAtOnce) {
  const auto began = std::chrono::steady_clock::now();
  Around around;
  around.free_memory = 4'000'000'000;
  const Outcome outcome = run_command({"sim", "--topology", "mesh:362", "--workload", "all_to_all:1MiB"}, around);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(test::kSlowBuild ? 300 : 30));
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("cableway: too large to simulate chunk by chunk: 261364 flows over "),
                    HasSubstr("would take about 9."), HasSubstr("4.0 GB are free here"), HasSubstr("--level flow")));
}

TEST(SimMemory, RoutesAreWrittenRowByRow) {
  if (test::kSlowBuild) GTEST_SKIP() << "the memory of this build is not the product's";
  const routing::Topology ring = *routing::generate_topology("ring:1024");
  for (const auto write : {write_routes_text, write_routes_json}) {
    const std::uint64_t taken = taken_by([&] {
      std::ofstream out("/dev/null");
      write(ring, routing::NodeIndex{0}, out);
    });
    EXPECT_LT(taken, 8'000'000U);
  }
}

}  // namespace
}  // namespace cableway::cli
