// A mix of workloads (TOML): the operations of the groups of a job with several kinds of parallelism, concurrently or
// in sequence.
//
//     [[group]]                        # for example one of data-parallel ranks
//     name = "dp0"                     # [A-Za-z0-9._-]{1,63}; optional, default "group1", "group2", .. by position
//     ranks = [0, 2, 4, 6]             # of the whole job; rank i of the workload is the i-th of them
//     workload = "all_reduce:25MiB"    # see workload_text.h
//     repeat = 4                       # optional, default 1: number of consecutive runs
//     after = ["tp0", "tp1"]           # optional: starts when these groups, which precede it in the file, are done
//
// Groups without `after` start at once.
#ifndef CABLEWAY_SIM_WORKLOAD_MIX_FILE_H_
#define CABLEWAY_SIM_WORKLOAD_MIX_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/workload/workload_text.h"

namespace cableway::workload {

inline constexpr std::size_t kMaxMixFileBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxMixFileLineBytes = 1024;  // bounds the nesting depth of dotted keys
inline constexpr std::size_t kMaxMixGroups = 1024;
inline constexpr std::size_t kMaxGroupNameLength = 63;
inline constexpr int kMaxRepeats = 100'000;

struct MixGroup {
  std::string name;        // unique
  std::vector<int> ranks;  // 2 to kMaxRanks different ones, 0 to kMaxRanks - 1
  SizedWorkload workload;
  int repeat = 1;                  // 1 to kMaxRepeats
  std::vector<std::size_t> after;  // indices of preceding groups, sorted

  friend bool operator==(const MixGroup&, const MixGroup&) = default;
};

struct Mix {
  std::vector<MixGroup> groups;  // in the order of the file, at least one

  friend bool operator==(const Mix&, const Mix&) = default;
};

// Pure: the caller reads the file; `file_name` is used only in messages. Every error is InvalidArgument and reads
// "FILE:LINE: what is wrong; what was expected".
absl::StatusOr<Mix> parse_mix(std::string_view text, std::string_view file_name);

// The least number of ranks of the job: one more than the highest rank of a group.
int ranks_needed(const Mix& mix);

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_MIX_FILE_H_
