// The plugs of a host and the interfaces behind them, as `cableway plan addresses --interfaces` gives them.
#ifndef CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_HOST_PLUGS_H_
#define CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_HOST_PLUGS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace cableway::cli {

struct HostPlugs {
  std::vector<std::vector<std::string>> plugs;  // of each plug its functions' interfaces; neither is empty
  bool is_spark = false;                        // with a DGX Spark's PCIe links
};

// The two QSFP plugs of a DGX Spark, each of two functions.
HostPlugs spark_plugs();

// "enp1s0f0np0+enP2p1s0f0np0,enp1s0f1np1+enP2p1s0f1np1": plugs between commas, the functions of one plug joined by "+";
// or "spark". InvalidArgument names the part at fault, and what was expected.
absl::StatusOr<HostPlugs> parse_plugs(std::string_view text);

// The plugs of each host.
struct PlugsByHost {
  HostPlugs others;  // of the hosts that are not listed
  std::map<std::string, HostPlugs> listed;

  const HostPlugs& of(const std::string& host) const;
};

// Each of `texts` is "HOST=PLUGS", or "PLUGS" for all hosts without one of their own: at most one of these, and one for
// each host; spark_plugs() without it. Errors as parse_plugs(); also hosts that are not among `hosts`.
absl::StatusOr<PlugsByHost> parse_plugs_by_host(const std::vector<std::string>& texts,
                                                const std::vector<std::string>& hosts);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_ADDRESS_PLAN_HOST_PLUGS_H_
