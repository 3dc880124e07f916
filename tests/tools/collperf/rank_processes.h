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
