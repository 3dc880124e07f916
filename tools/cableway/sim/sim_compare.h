// `cableway sim --compare A B`: two results of `cableway sim --json`, side by side.
#ifndef CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_COMPARE_H_
#define CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_COMPARE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace cableway::cli {

inline constexpr std::size_t kMaxSimResultBytes = std::size_t{64} << 20;

// The compared members of a result. Null members are not set.
struct SimResult {
  std::string name;  // of its file
  std::string topology;
  std::string workload;
  std::string command;
  std::optional<double> time_s;
  std::optional<double> algbw_GBps;
  std::optional<double> busbw_GBps;
  std::optional<double> bound_time_s;
  std::optional<double> ratio;
  std::string hottest;  // "c3 n3 -> n4", "n0 eth1, out", or "-"
  std::optional<double> hottest_utilisation;
};

// Pure. InvalidArgument names the file and the fault: a member that is missing or of another type, or the output of
// another mode.
absl::StatusOr<SimResult> parse_sim_result(std::string_view text, const std::string& file_name);

std::string comparison_text(const SimResult& a, const SimResult& b);

//   a, b     file, command, topology, workload, time_s, algbw_GBps, busbw_GBps, bound_time_s, ratio
//   change   of b against a, as a share of a's (0.5: half as much again): time, algbw, busbw, ratio
std::string comparison_json(const SimResult& a, const SimResult& b);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_SIM_SIM_COMPARE_H_
