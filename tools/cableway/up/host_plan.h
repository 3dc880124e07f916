// What a plan of `cableway plan addresses` says about one host.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_HOST_PLAN_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_HOST_PLAN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/settings/settings.h"

namespace cableway::cli {

struct PlannedInterface {
  std::string interface;
  std::string address;  // with its prefix's length: "10.10.0.1/24"
  std::string plug;     // empty: not known
};

struct HostPlan {
  std::string host;
  int mtu = 0;
  std::vector<PlannedInterface> ports;               // at least one
  std::string expected;                              // the topology file of the planned cluster
  std::optional<TunerSetting> tuner = std::nullopt;  // that fits it (expectation/fitting_tuner.h)
};

// Of the host `host`, else of the one that is called as `host` up to its first dot. `record` is the plan's
// addresses.json (address_plan/plan_record.h); `file_name` is for messages. InvalidArgument: it is not such a file, or
// the host is not in it, which lists those that are.
absl::StatusOr<HostPlan> parse_host_plan(std::string_view record, const std::string& file_name, const std::string& host,
                                         std::string expected, std::optional<TunerSetting> tuner);

// Those of plugs with several functions, whose ARP answers may be mixed up (address_plan/plan_files.h).
std::vector<std::string> twin_interfaces(const HostPlan& plan);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_HOST_PLAN_H_
