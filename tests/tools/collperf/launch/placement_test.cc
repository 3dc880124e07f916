// Where ranks run, by options and by the environments of launchers.
#include "tools/collperf/launch/placement.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cableway::collperf {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

EnvironmentLookup lookup_in(const Variables& variables) {
  return [&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

Placement placed(const Variables& variables, const PlacementRequest& request = {}) {
  const absl::StatusOr<Placement> place = place_ranks(request, lookup_in(variables), 1234567);
  EXPECT_TRUE(place.ok()) << place.status();
  return place.ok() ? *place : Placement{};
}

void expect_place(const Placement& place, int rank, int local_ranks, int ranks, const std::string& host) {
  EXPECT_EQ(place.rank, rank);
  EXPECT_EQ(place.local_ranks, local_ranks);
  EXPECT_EQ(place.ranks, ranks);
  EXPECT_EQ(place.host, host);
}

void expect_fault(const Variables& variables, const std::string& reason, const PlacementRequest& request = {}) {
  const absl::StatusOr<Placement> place = place_ranks(request, lookup_in(variables), 1234567);
  ASSERT_FALSE(place.ok()) << reason;
  EXPECT_EQ(place.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(place.status().message()), HasSubstr(reason));
}

const Variables kTorchrun = {
    {"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "gpu1"}, {"MASTER_PORT", "29500"}};
const Variables kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
const Variables kSlurm = {{"SLURM_PROCID", "2"},
                          {"SLURM_NTASKS", "8"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_JOB_ID", "77"},
                          {"SLURM_JOB_NODELIST", "node[03-10]"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

TEST(PlacementTest, Torchrun) {
  expect_place(placed(kTorchrun), 3, 1, 8, "gpu1");
  EXPECT_EQ(placed(kTorchrun).port, 29500);
  // The agent itself listens at the port.
  EXPECT_EQ(placed(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}})).port, 29501);
  EXPECT_EQ(placed(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).port, 29500);
}

TEST(PlacementTest, OpenMpi) {
  expect_fault(kOpenMpi, "Open MPI does not tell the host at which rank 0 listens; expected --rendezvous");
  expect_place(placed(kOpenMpi, {.rendezvous = "h:5"}), 1, 1, 4, "h");
  const Variables here = with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}, {"PMIX_NAMESPACE", "prterun-1@1"}});
  expect_place(placed(here), 1, 1, 4, "127.0.0.1");
  EXPECT_EQ(placed(here).port, placed(with(here, {{"OMPI_COMM_WORLD_RANK", "0"}})).port);
  EXPECT_NE(placed(here).port, placed(with(here, {{"PMIX_NAMESPACE", "prterun-2@1"}})).port);
  expect_fault(with(here, {{"PMIX_NAMESPACE", ""}}), "does not tell the port");
  expect_place(placed(with(kOpenMpi, {{"MASTER_ADDR", "m"}, {"MASTER_PORT", "7"}})), 1, 1, 4, "m");
}

TEST(PlacementTest, Slurm) {
  expect_place(placed(kSlurm), 2, 1, 8, "node03");
  EXPECT_GE(placed(kSlurm).port, 20000);
  EXPECT_LT(placed(kSlurm).port, 30000);
  EXPECT_NE(placed(kSlurm).port, placed(with(kSlurm, {{"SLURM_STEP_ID", "1"}})).port);
  EXPECT_EQ(placed(with(kSlurm, {{"MASTER_PORT", "9"}})).port, 9);
  expect_place(placed(with(kSlurm, {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_NODELIST", "node07"}})), 2, 1, 4,
               "node07");
  expect_fault(with(kSlurm, {{"SLURM_JOB_NODELIST", "node[x]"}}), "SLURM_JOB_NODELIST: ");
  expect_fault(with(kSlurm, {{"SLURM_NTASKS", ""}}), "SLURM_PROCID is set and SLURM_NTASKS is not");
}

TEST(PlacementTest, ABatchScriptIsNoTask) {
  Variables batch = kSlurm;
  batch.erase("SLURM_STEP_ID");
  expect_fault(batch, "nothing says where the other ranks run");
  expect_place(placed(batch, {.per_process = 2}), 0, 2, 2, "127.0.0.1");
  Variables shell = batch;
  shell.erase("SLURM_PROCID");
  expect_fault(shell, "nothing says where the other ranks run");
}

TEST(PlacementTest, AShellOfAnInteractiveJobIsNoTask) {
  const Variables shell = with(kSlurm, {{"SLURM_STEP_ID", "4294967290"}});
  expect_fault(shell, "nothing says where the other ranks run");
  expect_place(placed(shell, {.per_process = 2}), 0, 2, 2, "127.0.0.1");
}

TEST(PlacementTest, SlurmCountsBeforeThePmiThatItSetsUp) {
  const Variables both = with(kSlurm, {{"PMI_RANK", "2"}, {"PMI_SIZE", "8"}, {"PMI_JOBID", "77.0"}});
  expect_place(placed(both), 2, 1, 8, "node03");
  EXPECT_EQ(placed(both).port, placed(kSlurm).port);
  expect_fault(with(both, {{"PMI_RANK", "3"}}), "PMI_RANK and PMI_SIZE say rank 3 of 8, SLURM_PROCID and");
}

TEST(PlacementTest, TorchrunCountsWhereAnotherLauncherStartsItsAgents) {
  const Variables workers = with(kTorchrun, {{"TORCHELASTIC_RUN_ID", "none"}});
  expect_place(placed(with(workers, {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}})), 3, 1, 8, "gpu1");
  expect_place(placed(with(workers, kOpenMpi)), 3, 1, 8, "gpu1");
  expect_place(placed(with(workers, kSlurm)), 3, 1, 8, "gpu1");
}

TEST(PlacementTest, AnOnlyProcessIsOnThisHost) {
  const Variables alone = {{"RANK", "0"}, {"WORLD_SIZE", "1"}};
  expect_place(placed(alone, {.per_process = 2}), 0, 2, 2, "127.0.0.1");
  EXPECT_EQ(placed(alone, {.per_process = 2}).port, 0);  // any that is free
}

TEST(PlacementTest, OtherLaunchersInsideOfSlurmCount) {
  expect_place(placed(with(kSlurm, kTorchrun)), 3, 1, 8, "gpu1");
}

TEST(PlacementTest, Pmi) {
  expect_place(placed({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MASTER_ADDR", "m"}, {"MASTER_PORT", "7"}}), 1, 1, 2,
               "m");
}

TEST(PlacementTest, HalfAnEnvironmentIsNamed) {
  expect_fault({{"RANK", "1"}}, "RANK is set and WORLD_SIZE is not; expected both, as torchrun sets them");
  expect_fault({{"WORLD_SIZE", "2"}}, "WORLD_SIZE is set and RANK is not");
  expect_fault({{"OMPI_COMM_WORLD_RANK", "1"}}, "OMPI_COMM_WORLD_SIZE is not");
  expect_fault({{"RANK", "0"}, {"WORLD_SIZE", "2"}}, "does not tell the host");
  expect_fault({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "m"}}, "does not tell the port");
}

TEST(PlacementTest, BadValuesAreNamed) {
  expect_fault(with(kTorchrun, {{"RANK", "8"}}), "RANK is \"8\"; expected a number from 0 to 7");
  expect_fault(with(kTorchrun, {{"RANK", "-1"}}), "RANK is \"-1\"");
  expect_fault(with(kTorchrun, {{"WORLD_SIZE", "many"}}), "WORLD_SIZE is \"many\"");
  expect_fault(with(kTorchrun, {{"MASTER_PORT", "70000"}}),
               "MASTER_PORT is \"70000\"; expected a number from 1 to 65535");
  expect_fault(with(kTorchrun, {{"RANK", "0"}, {"WORLD_SIZE", "1"}}), "the run would have 1 rank; expected 2 to 1024");
  expect_fault(with(kTorchrun, {{"WORLD_SIZE", "2048"}}), "expected at most 1024 ranks");
}

TEST(PlacementTest, LaunchersThatDisagreeAreNamed) {
  expect_fault(with(kTorchrun, kOpenMpi),
               "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE say rank 1 of 4, RANK and WORLD_SIZE rank 3 of 8");
  expect_place(placed(with(with(kTorchrun, kOpenMpi), {{"RANK", "1"}, {"WORLD_SIZE", "4"}})), 1, 1, 4, "gpu1");
}

TEST(PlacementTest, EachProcessStandsForSeveralRanks) {
  expect_place(placed(kTorchrun, {.per_process = 2}), 6, 2, 16, "gpu1");
  expect_fault(kTorchrun, "started 8 processes with 1024 ranks each", {.per_process = 1024});
  expect_place(placed({}, {.per_process = 4}), 0, 4, 4, "127.0.0.1");
  EXPECT_EQ(placed({}, {.per_process = 4}).port, 0);
  EXPECT_EQ(placed({}, {.rendezvous = "127.0.0.1:9", .per_process = 4}).port, 9);
  expect_place(placed({}, {.rank = 2, .ranks = 4, .rendezvous = "h:9", .per_process = 2}), 2, 2, 4, "h");
  expect_fault({}, "3 is not from 0 to 2", {.rank = 3, .ranks = 4, .rendezvous = "h:9", .per_process = 2});
}

TEST(PlacementTest, OptionsWinOverTheEnvironment) {
  expect_place(placed(kTorchrun, {.rank = 0, .ranks = 2, .rendezvous = "h:9"}), 0, 1, 2, "h");
  expect_place(placed(kTorchrun, {.rank = 0, .ranks = 2}), 0, 1, 2, "gpu1");
  const Placement place =
      placed(kTorchrun, {.hosts = std::vector<HostSlots>{{"me@h0", 2}, {"h1", 0}}, .per_process = 3});
  expect_place(place, 0, 0, 5, "h0");
  EXPECT_EQ(place.port, 20000 + 4567);
  EXPECT_EQ(place.hosts[1].slots, 3);
  expect_fault({}, "the run would have 1 rank", {.hosts = std::vector<HostSlots>{{"h0", 0}}});
}

}  // namespace
}  // namespace cableway::collperf
