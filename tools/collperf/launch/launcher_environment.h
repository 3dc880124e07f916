// The place of this process among those that a launcher started, from its environment: Open MPI's, torchrun's, Slurm's
// and that of PMI (MPICH, Intel MPI).
//
// Pure. Values are not trusted. Errors are InvalidArgument, and name the variable.
#ifndef CABLEWAY_TOOLS_COLLPERF_LAUNCH_LAUNCHER_ENVIRONMENT_H_
#define CABLEWAY_TOOLS_COLLPERF_LAUNCH_LAUNCHER_ENVIRONMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace cableway::collperf {

// The value of a variable; nullptr if it is not set. As std::getenv().
using EnvironmentLookup = std::function<const char*(const char*)>;

struct LaunchedProcess {
  std::string launcher;  // "Open MPI", "torchrun", ..
  int rank = 0;
  int size = 1;  // of the job, at least 1
  // Where the process of rank 0 can be reached; nothing if the launcher does not tell.
  std::optional<std::string> host;
  std::optional<std::uint16_t> port;
};

// No value: no launcher started this process. torchrun's variables count alone where torchrun is known to have set
// them. Slurm's count before PMI's, which Slurm also sets. They do not count beside those of another launcher, which
// Slurm may have started, nor in a job's shell or batch script, which is not one of its tasks.
//
// The host is MASTER_ADDR, else the first of Slurm's nodes, else 127.0.0.1 if all processes are on one host. The port
// is MASTER_PORT, or the one after it where torchrun itself listens there, else derived from the launcher's name of the
// job.
absl::StatusOr<std::optional<LaunchedProcess>> launched_process(const EnvironmentLookup& lookup);

// MASTER_ADDR and MASTER_PORT alone, for ranks that were given by options. No value unless both are set.
struct Meeting {
  std::string host;
  std::uint16_t port = 0;
};
absl::StatusOr<std::optional<Meeting>> master_address(const EnvironmentLookup& lookup);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_LAUNCH_LAUNCHER_ENVIRONMENT_H_
