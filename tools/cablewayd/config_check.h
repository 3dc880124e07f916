// What `cablewayd --check-config` looks at beyond each setting by itself.
#ifndef CABLEWAY_TOOLS_CABLEWAYD_CONFIG_CHECK_H_
#define CABLEWAY_TOOLS_CABLEWAYD_CONFIG_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/discovery/port_inventory.h"
#include "core/settings/settings.h"
#include "core/settings/settings_view.h"

namespace cableway {

// The settings in force, with a warning for each selector that matches none of this host's `ports` (nothing: not known)
// and for a path that cannot serve. An error is what would keep a node from starting, or from its key. Changes nothing.
absl::StatusOr<std::string> check_config(const Settings& settings, const std::optional<std::vector<PortFacts>>& ports,
                                         ViewFormat format);

}  // namespace cableway

#endif  // CABLEWAY_TOOLS_CABLEWAYD_CONFIG_CHECK_H_
