// Runs collperf as a user does: one process per rank, all on this host.
#ifndef CABLEWAY_TESTS_TOOLS_COLLPERF_RANK_PROCESSES_H_
#define CABLEWAY_TESTS_TOOLS_COLLPERF_RANK_PROCESSES_H_

#include <string>
#include <vector>

namespace cableway::collperf {

struct RankProcess {
  int status = -1;  // exit status; 128 + signal if a signal ended it
  std::string out;  // standard output and error together
};

// A process whose output goes to a file of its own.
struct StartedProcess {
  int pid = -1;
  std::string output;  // the file
};

// `environment`: "NAME=value", before what this process has.
StartedProcess start_process(const std::vector<std::string>& command, const std::vector<std::string>& environment = {});
// Does nothing unless the process was started: signals to the numbers -1, 0 and 1 reach processes that are not the
// test's.
void signal_process(const StartedProcess& process, int signal);
// Waits for it; kills it after 90 s. Removes the file.
RankProcess finish_process(const StartedProcess& process);

struct RankSetup {
  int ranks = 4;
  std::vector<std::string> arguments{};    // of all ranks
  std::vector<std::string> environment{};  // "NAME=value", of fault_rank only
  int fault_rank = -1;
  int missing_rank = -1;  // not started
  std::string plugin{};   // the loopback plugin unless given
};

// Waits for all and returns them by rank; kills them after 90 s.
std::vector<RankProcess> run_ranks(const RankSetup& setup);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TESTS_TOOLS_COLLPERF_RANK_PROCESSES_H_
