// Workloads in text form, for `cableway sim`, mix files and collperf: "all_reduce:256M", "sendrecv:64MiB,0-2".
//
//     OPERATION:SIZE[,VARIANT]
//
//   all_reduce      variant: ring (default) or tree
//   all_gather, reduce_scatter, broadcast, reduce
//   all_to_all      also alltoall, as nccl-tests writes it
//   sendrecv        variant: opposite (default), neighbour (that of nccl-tests), or SOURCE-DESTINATION, two ranks
//   pingpong        variant: SOURCE-DESTINATION (default 0-1)
//   pipeline        variant: number of micro-batches (default 1)
//
// A size is a whole number of bytes, alone or with B; with K, M, G (also k, m, g, as in nccl-tests), KiB, MiB or GiB
// (powers of 1024); or with KB, MB or GB (powers of 1000).
#ifndef CABLEWAY_SIM_WORKLOAD_WORKLOAD_TEXT_H_
#define CABLEWAY_SIM_WORKLOAD_WORKLOAD_TEXT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/workload/workload.h"

namespace cableway::workload {

inline constexpr std::uint64_t kMaxWorkloadBytes = std::uint64_t{1} << 40;
inline constexpr int kMaxRanks = 4096;
inline constexpr int kMaxMicroBatches = 4096;

struct SizedWorkload {
  Workload workload;
  std::uint64_t size = 0;  // 1 to kMaxWorkloadBytes, not yet rounded: see rounded_size()

  friend bool operator==(const SizedWorkload&, const SizedWorkload&) = default;
};

// A workload whose size may be given elsewhere.
struct WorkloadPattern {
  Workload workload;
  std::optional<std::uint64_t> size;  // as in SizedWorkload

  friend bool operator==(const WorkloadPattern&, const WorkloadPattern&) = default;
};

// Those that parse_workload() knows.
std::span<const std::string_view> operation_names();

// Pure. Every error is InvalidArgument and reads "workload "TEXT": what is wrong; expected ..".
absl::StatusOr<SizedWorkload> parse_workload(std::string_view text);

// The same for OPERATION[:SIZE][,VARIANT], as in "sendrecv,0-2".
absl::StatusOr<WorkloadPattern> parse_pattern(std::string_view text);

// Text that parse_workload() parses to the same value.
std::string workload_text(const SizedWorkload& workload);

// Text that parse_pattern() parses to the same value, without a size.
std::string pattern_text(const Workload& workload);

// In bytes; at most kMaxWorkloadBytes. The error reads "what is wrong; expected ..".
absl::StatusOr<std::uint64_t> parse_size(std::string_view text);

// "256MiB", "64MB", "1000001B": uses the largest unit that divides it.
std::string size_text(std::uint64_t bytes);

// InvalidArgument if the workload cannot run with this many ranks: fewer than two, or not all ranks that it names.
absl::Status check_ranks(const Workload& workload, int ranks);

}  // namespace cableway::workload

#endif  // CABLEWAY_SIM_WORKLOAD_WORKLOAD_TEXT_H_
