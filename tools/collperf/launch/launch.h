// Starts the ranks of a placement: each in a process of its own on this host, or one process on each other host, which
// does the same there.
#ifndef CABLEWAY_TOOLS_COLLPERF_LAUNCH_LAUNCH_H_
#define CABLEWAY_TOOLS_COLLPERF_LAUNCH_LAUNCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/collperf/launch/placement.h"
#include "tools/collperf/launch/process_group.h"

namespace cableway::collperf {

struct LaunchRequest {
  Placement place;                       // with a port
  std::string program;                   // the same on all hosts
  std::vector<std::string> arguments;    // of all ranks
  std::vector<std::string> ssh;          // the program and its first arguments
  std::string directory;                 // on other hosts
  std::vector<std::string> environment;  // "NAME=value", for other hosts
};

// The processes to start, rank 0's first. Pure.
absl::StatusOr<std::vector<GroupMember>> members_of(const LaunchRequest& request);

// Completes the request with what this process has (its program, folder, environment, and a free port), and runs it.
// Returns the exit status.
int launch(LaunchRequest request, const GroupLimits& limits);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_LAUNCH_LAUNCH_H_
