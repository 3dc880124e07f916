// The command that starts a program on another host over ssh. Pure.
#ifndef CABLEWAY_TOOLS_COLLPERF_LAUNCH_REMOTE_COMMAND_H_
#define CABLEWAY_TOOLS_COLLPERF_LAUNCH_REMOTE_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cableway::collperf {

// "NAME=value" entries of an environment that ranks on other hosts need, too: those of NCCL and Cableway.
std::vector<std::string> forwarded_environment(const char* const* environment);

struct RemoteProgram {
  std::vector<std::string> ssh;  // the program and its first arguments
  std::string host;
  std::string directory;                 // where the program runs
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<std::string> command;      // the program and its arguments
};

// The arguments of the local process. The remote shell gets one text, in which every word is quoted. InvalidArgument if
// that is longer than the kernel takes.
absl::StatusOr<std::vector<std::string>> remote_command(const RemoteProgram& program);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_LAUNCH_REMOTE_COMMAND_H_
