#include "tests/tools/collperf/rank_processes.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/collperf/launch/free_port.h"

extern char** environ;

namespace cableway::collperf {
namespace {

constexpr std::chrono::seconds kDeadline{90};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(std::vector<std::string> command, std::vector<std::string> more_environment, const std::string& output) {
  std::vector<std::string> environment = std::move(more_environment);
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, command[0].c_str(), &actions, nullptr, pointers(command).data(), pointers(environment).data());
  if (error != 0) pid = -1;
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

int wait_until(pid_t pid, std::chrono::steady_clock::time_point deadline) {
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (pid > 1 && std::chrono::steady_clock::now() > deadline) kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string temporary_file() {
  std::string path = absl::StrCat(std::filesystem::temp_directory_path().string(), "/collperf-test-XXXXXX");
  const int fd = mkstemp(path.data());
  if (fd >= 0) close(fd);
  return path;
}

}  // namespace

StartedProcess start_process(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  StartedProcess process{.pid = -1, .output = temporary_file()};
  process.pid = spawn(command, environment, process.output);
  return process;
}

void signal_process(const StartedProcess& process, int signal) {
  if (process.pid > 1) kill(process.pid, signal);
}

RankProcess finish_process(const StartedProcess& process) {
  RankProcess finished;
  if (process.pid > 0) finished.status = wait_until(process.pid, std::chrono::steady_clock::now() + kDeadline);
  finished.out = read_all(process.output);
  std::filesystem::remove(process.output);
  return finished;
}

std::vector<RankProcess> run_ranks(const RankSetup& setup) {
  const std::string rendezvous = absl::StrCat("127.0.0.1:", free_port());
  std::vector<StartedProcess> started;
  for (int rank = 0; rank < setup.ranks; ++rank) {
    // Empty unless the tests are cross-built: then the binary needs this one's emulator.
    std::vector<std::string> command = absl::StrSplit(COLLPERF_EMULATOR, ' ', absl::SkipEmpty());
    const std::vector<std::string> place = {COLLPERF_BINARY,
                                            "--plugin",
                                            setup.plugin.empty() ? LOOPBACK_PLUGIN : setup.plugin,
                                            "--rank",
                                            std::to_string(rank),
                                            "--ranks",
                                            std::to_string(setup.ranks),
                                            "--rendezvous",
                                            rendezvous};
    command.insert(command.end(), place.begin(), place.end());
    command.insert(command.end(), setup.arguments.begin(), setup.arguments.end());
    const bool faulty = rank == setup.fault_rank;
    started.push_back(rank == setup.missing_rank
                          ? StartedProcess{}
                          : start_process(command, faulty ? setup.environment : std::vector<std::string>()));
  }
  std::vector<RankProcess> processes;
  for (const StartedProcess& process : started) processes.push_back(finish_process(process));
  return processes;
}

}  // namespace cableway::collperf
