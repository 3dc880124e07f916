// A node's ports, their neighbours, and the rejected interfaces, as JSON, for the command line and for scripts.
// docs/cli.md describes the fields.
#ifndef CABLEWAY_CORE_VIEW_PORTS_VIEW_H_
#define CABLEWAY_CORE_VIEW_PORTS_VIEW_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/discovery/control_counters.h"
#include "core/node/node.h"
#include "core/ports/port_inventory.h"
#include "core/settings/settings.h"
#include "core/view/port_bytes.h"

namespace cableway {

// A port as it is seen without a node: its neighbours, control channel and bytes are null. `setting`:
// CABLEWAY_TRANSPORT.
nlohmann::ordered_json port_json(const PortFacts& port, TransportSetting setting);

// The node's ports with both. `setting`: this node's CABLEWAY_TRANSPORT.
nlohmann::ordered_json ports_json(const Node& node, TransportSetting setting, const ControlCounters& counters);

std::string ports_view(const Node& node, TransportSetting setting, const std::vector<RejectedPort>& rejected,
                       const ControlCounters& counters, const ReadPortBytes& port_bytes = {});

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_PORTS_VIEW_H_
