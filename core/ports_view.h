// A node's ports, whom it hears on them, and which interfaces are none, as JSON, for the command line and for scripts.
// docs/cli.md describes the fields.
#ifndef CABLEWAY_CORE_PORTS_VIEW_H_
#define CABLEWAY_CORE_PORTS_VIEW_H_

#include <string>
#include <vector>

#include "core/control_counters.h"
#include "core/node.h"
#include "core/port_inventory.h"

namespace cableway {

std::string ports_view(const Node& node, const std::vector<RejectedPort>& rejected, const ControlCounters& counters);

}  // namespace cableway

#endif  // CABLEWAY_CORE_PORTS_VIEW_H_
