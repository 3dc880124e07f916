// What a node, the plugin and the command line are told by their environment. docs/settings.md has the table.
#ifndef CABLEWAY_CORE_SETTINGS_H_
#define CABLEWAY_CORE_SETTINGS_H_

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace cableway {

struct Settings {
  std::string node;                     // CABLEWAY_NODE, default: the host's name
  std::string cluster = "cableway";     // CABLEWAY_CLUSTER
  std::string runtime_dir = "default";  // CABLEWAY_RUNTIME_DIR: names the session socket; several nodes on one host
                                        // that share a network namespace each have their own
  std::string topology_file;            // CABLEWAY_TOPOLOGY
  std::string log_level = "info";       // CABLEWAY_LOG: trace, debug, info, warn, error
  std::string daemon;                   // CABLEWAY_DAEMON: path of the cablewayd that the plugin starts
  std::chrono::seconds linger{30};      // CABLEWAY_LINGER: how long a node that was started by a job outlives its use
};

// `get` returns an environment variable's value, or nullptr. InvalidArgument names the variable, its value and what
// was expected. A variable that begins with CABLEWAY_ and is not in the table is an error of the caller's to find:
// see check_names().
absl::StatusOr<Settings> settings_from(const std::function<const char*(const char*)>& get, std::string host_name);

// InvalidArgument for the first name that begins with CABLEWAY_ and is not a setting. `environment` is a
// null-terminated array of NAME=VALUE.
absl::Status check_names(const char* const* environment);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_H_
