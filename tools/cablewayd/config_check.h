// The checks of `cablewayd --check-config` beyond each single setting.
#ifndef CABLEWAY_TOOLS_CABLEWAYD_CONFIG_CHECK_H_
#define CABLEWAY_TOOLS_CABLEWAYD_CONFIG_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ports/port_inventory.h"
#include "core/settings/settings.h"
#include "core/settings/settings_view.h"

namespace cableway {

// Returns the effective settings, with a warning for each selector that matches none of this host's `ports` (not set:
// unknown) and for each unusable path. Errors are those that would prevent a node from starting or reading its key.
// Changes nothing.
absl::StatusOr<std::string> check_config(const Settings& settings, const std::optional<std::vector<PortFacts>>& ports,
                                         ViewFormat format);

}  // namespace cableway

#endif  // CABLEWAY_TOOLS_CABLEWAYD_CONFIG_CHECK_H_
