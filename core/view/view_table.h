// The views that a node answers, by name: all JSON, for the command line and for scripts.
#ifndef CABLEWAY_CORE_VIEW_VIEW_TABLE_H_
#define CABLEWAY_CORE_VIEW_VIEW_TABLE_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/discovery/control_counters.h"
#include "core/discovery/port_inventory.h"
#include "core/node/node.h"
#include "core/relay/relay_status.h"
#include "core/session/flow_ledger.h"
#include "core/session/session_message.h"
#include "core/settings/settings.h"
#include "core/view/status_view.h"
#include "routing/topology/topology.h"

namespace cableway {

// A node and what runs around it. A view asks only for what it shows.
struct ViewSources {
  const Node& node;
  TransportSetting transport = TransportSetting::kAuto;  // CABLEWAY_TRANSPORT
  std::function<const routing::Topology&()> topology;
  std::function<RelayStatus()> relay;
  std::function<FlowsStatus()> flows;
  std::function<std::size_t()> sessions;
  std::function<std::vector<HostProblem>()> problems;  // beside those that the node knows of (Node::problems())
  std::function<std::vector<RejectedPort>()> rejected;
  std::function<ControlCounters()> control;
};

struct View {
  std::string_view name;
  std::string (*write)(const ViewSources& sources);
};

std::span<const View> all_views();

// An error instead of the view where there is none of this name, or where it does not fit into a message.
ViewReply answer_view(std::string_view name, const ViewSources& sources);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_VIEW_TABLE_H_
