// Ranks that collperf starts itself, here and through a program in place of ssh, and ranks of launchers.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/tools/collperf/rank_processes.h"
#include "tools/collperf/launch/free_port.h"

namespace cableway::collperf {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Seconds = std::chrono::seconds;

// As sshd, it starts commands with little of an environment. It knows hosts that cannot be reached, and that hang.
constexpr char kFakeSsh[] = R"(#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
host=$1; shift
case $host in
  dead) echo "ssh: connect to host dead port 22: No route to host" >&2; exit 255 ;;
  hung) exec sleep 300 ;;
esac
exec env -i PATH="$PATH" sh -c "$*"
)";

class LaunchRunTest : public testing::Test {
 protected:
  void SetUp() override {
    // A rank that starts others would have to know the emulator.
    if (*COLLPERF_EMULATOR != '\0') GTEST_SKIP() << "collperf starts itself, which an emulator does not do";
    std::string folder = (fs::temp_directory_path() / "collperf test-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    ssh_ = (fs::temp_directory_path() / absl::StrCat("collperf-ssh-", getpid())).string();
    std::ofstream(ssh_) << kFakeSsh;
    fs::permissions(ssh_, fs::perms::owner_all);
    port_ = std::to_string(free_port());
  }

  void TearDown() override {
    fs::remove_all(folder_);
    if (!ssh_.empty()) fs::remove(ssh_);
  }

  StartedProcess start(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> command = {COLLPERF_BINARY, "--plugin", LOOPBACK_PLUGIN, "--timeout", timeout_,
                                        "--peer-grace",  "1"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return start_process(command, environment);
  }

  StartedProcess start_on_hosts(const std::string& hosts, std::vector<std::string> arguments,
                                const std::vector<std::string>& environment = {}) const {
    arguments.insert(arguments.end(), {"--hosts", hosts, "--ssh", ssh_, "--rendezvous", "127.0.0.1:" + port_});
    return start(arguments, environment);
  }

  // The processes of this run other than the one that starts the ranks.
  int ranks_running() const {
    int found = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline", std::ios::binary);
      const std::string line{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      const bool is_rank = line.find("--launched") != std::string::npos;
      if (is_rank && line.find(absl::StrCat("--rendezvous=127.0.0.1:", port_)) != std::string::npos) ++found;
    }
    return found;
  }

  bool comes_to_run(int ranks, Seconds limit = Seconds(20)) const {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (ranks_running() != ranks) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  fs::path folder_;
  std::string ssh_;
  std::string port_;
  std::string timeout_ = "10";  // seconds
};

// Of what rank 0 printed, which may follow lines of others.
nlohmann::json json_in(const RankProcess& process) {
  const std::size_t begin = std::min(process.out.find('{'), process.out.size());
  return nlohmann::json::parse(process.out.substr(begin), nullptr, /*allow_exceptions=*/false);
}

TEST_F(LaunchRunTest, StartsRanksOnThisHost) {
  const RankProcess run = finish_process(start({"-g", "3", "-b", "8", "-e", "64K", "-f", "8", "-n", "2", "-w", "1"}));
  EXPECT_EQ(run.status, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("# nRanks 3 warmup iters: 1 iters: 2 validation: 1\n"));
  EXPECT_THAT(run.out, HasSubstr("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : "));
  EXPECT_THAT(run.out, Not(HasSubstr("started")));
  // As scripts read nccl-tests.
  int rows = 0;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(run.out, '\n'))) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty() || words[0].starts_with('#')) continue;
    ASSERT_EQ(words.size(), 13U) << line;
    EXPECT_EQ(std::stoi(words[0]), 8 << (3 * rows));
    EXPECT_GT(std::stod(words[5]), 0) << line;
    EXPECT_EQ(words[8], "0");
    EXPECT_EQ(absl::StrJoin(words.begin() + 9, words.end(), " "), "N/A N/A N/A N/A");
    ++rows;
  }
  EXPECT_EQ(rows, 5);
}

TEST_F(LaunchRunTest, StartsRanksOnOtherHosts) {
  const RankProcess run = finish_process(start_on_hosts(
      "127.0.0.1:2,me@127.0.0.2", {"--workload", "all_to_all:64K", "-n", "2", "--json", "-"}, {"CABLEWAY_LOG=info"}));
  EXPECT_EQ(run.status, 0) << run.out;
  // The variable reached the ranks, whose lines have their host.
  EXPECT_THAT(run.out, HasSubstr("me@127.0.0.2: collperf[2]"));
  const nlohmann::json json =
      json_in({0, run.out.substr(run.out.find("\n{") + 1, run.out.find("\n}") + 2 - run.out.find("\n{") - 1)});
  ASSERT_TRUE(json.is_object()) << run.out;
  EXPECT_EQ(json["ranks"], 3);
  EXPECT_EQ(json["ok"], true);
}

TEST_F(LaunchRunTest, ReadsAHostFileAndQuotesWhatAShellWouldChange) {
  const std::string hosts = (folder_ / "hosts").string();
  std::ofstream(hosts) << "# two\n127.0.0.1\n127.0.0.2 slots=1\n";
  const fs::path report = folder_ / "it's $HOME.json";
  const RankProcess run = finish_process(start({"--hostfile", hosts, "--ssh", ssh_, "--rendezvous",
                                                "127.0.0.1:" + port_, "--sizes", "8", "--json", report.string()}));
  EXPECT_EQ(run.status, 0) << run.out;
  EXPECT_TRUE(fs::exists(report)) << run.out;
}

TEST_F(LaunchRunTest, NamesAHostThatCannotBeReached) {
  timeout_ = "60";
  const auto begin = std::chrono::steady_clock::now();
  const RankProcess run = finish_process(start_on_hosts("127.0.0.1,dead", {}));
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.out,
              HasSubstr("collperf: host dead failed with exit status 255, that of ssh when it cannot connect or is "
                        "disconnected; its last lines:\n  ssh: connect to host dead port 22: No route to host\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, Seconds(30));
  EXPECT_TRUE(comes_to_run(0));
}

TEST_F(LaunchRunTest, NamesAHostThatDoesNotStartARank) {
  timeout_ = "3";
  const RankProcess run = finish_process(start_on_hosts("127.0.0.1,hung", {}));
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.out, HasSubstr("host hung has not started collperf in 3 s"));
  EXPECT_TRUE(comes_to_run(0));
}

TEST_F(LaunchRunTest, NamesTheRankThatFailed) {
  const RankProcess run = finish_process(start({"-g", "2", "--device", "5", "--sizes", "8"}));
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.out, HasSubstr(" failed with exit status 3; its last lines:\n"));
  EXPECT_THAT(run.out, HasSubstr("there is no device 5"));
}

TEST_F(LaunchRunTest, ASignalEndsAllRanks) {
  const StartedProcess run = start_on_hosts("127.0.0.1:2,127.0.0.2", {"--sizes", "8", "--wall-seconds", "80"});
  // Three ranks, and one process that has two of them.
  ASSERT_GT(run.pid, 1) << "collperf was not started";
  EXPECT_TRUE(comes_to_run(4));
  signal_process(run, SIGTERM);
  const RankProcess ended = finish_process(run);
  EXPECT_EQ(ended.status, 128 + SIGTERM) << ended.out;
  EXPECT_TRUE(comes_to_run(0));
}

TEST_F(LaunchRunTest, RanksEndWithTheProcessThatStartedThem) {
  const StartedProcess run = start_on_hosts("127.0.0.1:2,127.0.0.2", {"--sizes", "8", "--wall-seconds", "80"});
  ASSERT_GT(run.pid, 1) << "collperf was not started";
  EXPECT_TRUE(comes_to_run(4));
  signal_process(run, SIGKILL);
  EXPECT_EQ(finish_process(run).status, 128 + SIGKILL);
  EXPECT_TRUE(comes_to_run(0));
}

struct Launcher {
  std::string name;
  std::vector<std::vector<std::string>> variables;  // of each process, without the port
  std::vector<std::string> arguments;
  int ranks = 2;
};

class LauncherTest : public LaunchRunTest, public testing::WithParamInterface<Launcher> {};

TEST_P(LauncherTest, OnlyRankZeroPrints) {
  std::vector<StartedProcess> started;
  for (std::vector<std::string> variables : GetParam().variables) {
    variables.push_back("MASTER_PORT=" + port_);
    std::vector<std::string> arguments = {"--sizes", "8", "--json", "-"};
    arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
    started.push_back(start(arguments, variables));
  }
  std::vector<RankProcess> ended;
  for (const StartedProcess& process : started) ended.push_back(finish_process(process));
  for (const RankProcess& process : ended) EXPECT_EQ(process.status, 0) << process.out;
  EXPECT_EQ(json_in(ended[0])["ranks"], GetParam().ranks) << ended[0].out;
  EXPECT_EQ(ended[1].out, "");
}

INSTANTIATE_TEST_SUITE_P(
    Launchers, LauncherTest,
    testing::Values(Launcher{.name = "torchrun",
                             .variables = {{"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "MASTER_ADDR=127.0.0.1"},
                                           {"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1", "MASTER_ADDR=127.0.0.1"}},
                             .arguments = {"-g", "2"},
                             .ranks = 4},
                    Launcher{.name = "OpenMpi",
                             .variables = {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2",
                                            "OMPI_COMM_WORLD_LOCAL_RANK=0", "OMPI_COMM_WORLD_LOCAL_SIZE=2"},
                                           {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2",
                                            "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2"}},
                             .arguments = {}},
                    Launcher{.name = "Slurm",
                             .variables = {{"SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_STEP_ID=0", "SLURM_JOB_ID=7",
                                            "SLURM_JOB_NODELIST=localhost,node[2-3]"},
                                           {"SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_STEP_ID=0", "SLURM_JOB_ID=7",
                                            "SLURM_JOB_NODELIST=localhost,node[2-3]"}},
                             .arguments = {}}),
    [](const auto& launcher) { return launcher.param.name; });

}  // namespace
}  // namespace cableway::collperf
