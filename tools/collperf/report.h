// The report of collperf: the table of nccl-tests and a JSON document.
//
// In the table, lines that begin with # are for people; the others have nccl-tests' columns: size, count, type, redop,
// root, and for out-of-place operations time (us), algbw, busbw (GB/s), #wrong. The same four for in-place operations
// follow and are N/A, since collperf has no such operation. Each workload has a header of its own.
//
// The JSON document:
//   schema          1
//   plugin          {path, name, abi, device, device_name, speed_mbps}
//   ranks, channels, in_flight
//   results         one object per operation and size:
//     op, variant       "all_reduce", "ring"; variant is "" if there is only one, "pair A B", "8 batches"
//     size_bytes        as nccl-tests counts it; rounded up to a multiple that the ranks can divide
//     step_bytes        the largest message
//     iterations        timed operations
//     time_us           mean time of one operation, on the slowest rank, times time_share(): for pingpong, half a
//                       round trip
//     p50_us, p99_us    percentiles of single operations, from the end of one to the end of the next
//     algbw_GBps        size_bytes / time, in 1e9 bytes per second
//     busbw_GBps        algbw_GBps times nccl-tests' factor of the operation
//     wrong             bytes with wrong content, all ranks, all checked operations
//     bytes_verified    bytes compared, all ranks, all checked operations
//     seconds           total measured time, on the slowest rank
//     cpu_seconds       by rank: CPU time of the whole process (plugin threads too) in that time
//     bytes_sent        by rank: payload passed to isend in that time; CPU per GB = cpu_seconds / bytes_sent * 1e9
//     messages_sent     by rank: calls of isend in that time that began a message
//   wrong, bytes_verified   sums over the results
//   ok              true if everything ran and no byte was wrong
//   error           why the run ended early, or null
// Times and bandwidths are null when no operation was timed (--iters 0).
#ifndef CABLEWAY_TOOLS_COLLPERF_REPORT_H_
#define CABLEWAY_TOOLS_COLLPERF_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "sim/workload/workload.h"
#include "tools/collperf/options.h"

namespace cableway::collperf {

// One rank's part of a result.
struct RankResult {
  std::uint64_t iterations = 0;
  double seconds = 0;
  double p50_us = 0;
  double p99_us = 0;
  double cpu_seconds = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t wrong = 0;
  std::uint64_t bytes_verified = 0;
};

// Serialisation for the transfer to rank 0.
std::string encode(const RankResult& result);
absl::StatusOr<RankResult> decode_rank_result(const std::string& text);

// The value at `percent` of the sorted durations, in microseconds; 0 if there are none.
double percentile_us(std::vector<std::uint32_t> nanoseconds, int percent);

struct Result {
  Workload workload;
  std::uint64_t size = 0;
  std::uint64_t step_bytes = 0;
  int ranks = 0;
  std::vector<RankResult> by_rank;

  std::uint64_t iterations() const;
  double seconds() const;
  double time_us() const;
  double p50_us() const;
  double p99_us() const;
  double alg_bw() const;  // GB/s
  double bus_bw() const;  // GB/s
  std::uint64_t wrong() const;
  std::uint64_t bytes_verified() const;
};

struct PluginDescription {
  std::string path;
  std::string name;
  int abi = 0;
  int device = 0;
  std::string device_name;
  int speed_mbps = 0;
};

// Where a rank runs.
struct RankPlace {
  std::string host;
  int process = 0;
};
std::string encode(const RankPlace& place);
absl::StatusOr<RankPlace> decode_rank_place(const std::string& text);

// `checked`: whether bytes are checked; else nothing is known of wrong ones.
std::string table_header(const Options& options, const PluginDescription& plugin, const std::vector<RankPlace>& places);
std::string table_columns(const Workload& workload);
std::string table_row(const Result& result, bool checked);
std::string table_footer(const std::vector<Result>& results, const absl::Status& status, bool checked);

nlohmann::ordered_json json_report(const Options& options, const PluginDescription& plugin,
                                   const std::vector<Result>& results, const absl::Status& status);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_REPORT_H_
