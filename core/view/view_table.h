// A node's views by name: all JSON, for the command line and for scripts.
#ifndef CABLEWAY_CORE_VIEW_VIEW_TABLE_H_
#define CABLEWAY_CORE_VIEW_VIEW_TABLE_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/discovery/control_counters.h"
#include "core/node/node.h"
#include "core/ports/port_inventory.h"
#include "core/relay/relay_status.h"
#include "core/session/flow_ledger.h"
#include "core/session/session_message.h"
#include "core/settings/settings.h"
#include "core/view/port_bytes.h"
#include "core/view/status_view.h"
#include "routing/topology/topology.h"

namespace cableway {

// The sources of the views: a node and its host's components. A view calls only those that it shows.
struct ViewSources {
  const Node& node;
  TransportSetting transport = TransportSetting::kAuto;  // CABLEWAY_TRANSPORT
  std::function<const routing::Topology&()> topology;
  std::function<RelayStatus()> relay;
  std::function<FlowsStatus()> flows;
  // The same without circuits and flows, for what other nodes see and for metrics: a copy of thousands takes
  // milliseconds.
  std::function<RelayStatus()> relay_counts = {};
  std::function<FlowsStatus()> flow_counts = {};
  std::function<std::size_t()> sessions;
  std::function<std::vector<HostProblem>()> problems;  // in addition to Node::problems()
  std::function<std::vector<std::string>()> keys;      // KeyRing::fingerprints(); none without a key
  std::function<std::vector<RejectedPort>()> rejected;
  std::function<ControlCounters()> control;
  ReadPortBytes port_bytes = {};           // not read where it is null
  std::function<std::string()> gone = {};  // the view of that name (core/live/gone_json.h); asked for by it alone
  ProgramRun run = {};
};

struct View {
  std::string_view name;
  std::string (*write)(const ViewSources& sources);
};

std::span<const View> all_views();

// Replies with an error if no view has this name, or if the view does not fit into a message.
ViewReply answer_view(std::string_view name, const ViewSources& sources);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_VIEW_TABLE_H_
