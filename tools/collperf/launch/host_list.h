// Lists of hosts: those of --hosts, of a host file, and Slurm's.
//
// Pure. Input is not trusted: every list has bounds, and a host is safe as an argument of ssh, since it cannot begin
// with a hyphen. Errors are InvalidArgument and read "what is wrong; expected ..".
#ifndef CABLEWAY_TOOLS_COLLPERF_LAUNCH_HOST_LIST_H_
#define CABLEWAY_TOOLS_COLLPERF_LAUNCH_HOST_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace cableway::collperf {

inline constexpr std::size_t kMaxHosts = 1024;
inline constexpr int kMaxSlots = 1024;
inline constexpr std::size_t kMaxHostListBytes = std::size_t{1} << 18;

struct HostSlots {
  std::string host;  // as ssh takes it: "gpu1", "user@gpu1", "fe80::1"
  int slots = 0;     // ranks on it; 0: not given

  friend bool operator==(const HostSlots&, const HostSlots&) = default;
};

// "h0,h1:4,user@h2,[fe80::1]:2": at least one host, each once.
absl::StatusOr<std::vector<HostSlots>> parse_hosts(std::string_view text);

// One host a line, as "h0", "h0:4" or, as for Open MPI, "h0 slots=4"; # begins a comment.
absl::StatusOr<std::vector<HostSlots>> parse_host_file(std::string_view text);

// The first host of a list as in SLURM_JOB_NODELIST: "node[01-03,7]" gives "node01", "rack[1-2]n[0-3]" "rack1n0".
absl::StatusOr<std::string> first_slurm_host(std::string_view list);

// The address of a host: without the user.
std::string address_of(const std::string& host);

}  // namespace cableway::collperf

#endif  // CABLEWAY_TOOLS_COLLPERF_LAUNCH_HOST_LIST_H_
