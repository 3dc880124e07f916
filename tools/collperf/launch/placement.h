// Which ranks this process runs or starts, and where all ranks meet: from options, or from a launcher's environment.
//
// Pure. Errors are InvalidArgument, and name the option or the variable.
#ifndef CABLEWAY_TOOLS_COLLPERF_LAUNCH_PLACEMENT_H_
#define CABLEWAY_TOOLS_COLLPERF_LAUNCH_PLACEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/collperf/launch/host_list.h"
#include "tools/collperf/launch/launcher_environment.h"

namespace cableway::collperf {

inline constexpr int kMostRanks = 1024;

// As given on the command line.
struct PlacementRequest {
  std::optional<int> rank{};
  std::optional<int> ranks{};
  std::string rendezvous{};                       // HOST:PORT, or empty
  std::optional<std::vector<HostSlots>> hosts{};  // of --hosts or --hostfile
  int per_process = 1;                            // -g
};

struct Placement {
  int rank = 0;                    // the first of this process
  int local_ranks = 1;             // above 1: each in a process of its own, which this one starts
  int ranks = 0;                   // of the run
  std::string host{};              // where rank 0 listens
  std::uint16_t port = 0;          // 0: one that is free, since all ranks are this process's own
  std::vector<HostSlots> hosts{};  // not empty: this process starts all ranks over ssh, and has none itself
};

// `process_id` distinguishes runs over ssh, whose port nobody has chosen.
absl::StatusOr<Placement> place_ranks(const PlacementRequest& request, const EnvironmentLookup& lookup,
                                      std::uint32_t process_id);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_LAUNCH_PLACEMENT_H_
