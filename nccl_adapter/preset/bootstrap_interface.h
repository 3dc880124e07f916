// The interface over which the processes of a job find each other before they use the cables.
#ifndef CABLEWAY_NCCL_ADAPTER_PRESET_BOOTSTRAP_INTERFACE_H_
#define CABLEWAY_NCCL_ADAPTER_PRESET_BOOTSTRAP_INTERFACE_H_

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cableway::nccl {

inline constexpr char kBootstrapVariable[] = "NCCL_SOCKET_IFNAME";

// The first of `default_interfaces` (of the default routes, the best first) that is no cable: over a cable not all
// ranks reach each other. nullopt where only cables have a default route, as there may be no other interface: the
// choice is the user's.
inline std::optional<std::string> bootstrap_interface(const std::vector<std::string>& default_interfaces,
                                                      const std::vector<std::string>& cable_interfaces) {
  const auto found =
      std::find_if_not(default_interfaces.begin(), default_interfaces.end(), [&](const std::string& interface) {
        return std::find(cable_interfaces.begin(), cable_interfaces.end(), interface) != cable_interfaces.end();
      });
  return found == default_interfaces.end() ? std::nullopt : std::optional(*found);
}

// The value of NCCL_SOCKET_IFNAME for that interface alone: NCCL matches a name as a prefix unless it starts with "=".
inline std::string exactly(const std::string& interface) {
  return absl::StrCat("=", interface);
}

}  // namespace cableway::nccl

#endif  // CABLEWAY_NCCL_ADAPTER_PRESET_BOOTSTRAP_INTERFACE_H_
