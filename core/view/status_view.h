// A node's state as JSON, for the command line and for scripts. docs/cli.md describes the fields.
#ifndef CABLEWAY_CORE_VIEW_STATUS_VIEW_H_
#define CABLEWAY_CORE_VIEW_STATUS_VIEW_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/event/event.h"
#include "core/event/event_code.h"
#include "core/node/node.h"
#include "core/relay/relay_status.h"
#include "core/session/flow_ledger.h"

namespace cableway {

// A problem found by the node's host, in addition to Node::problems().
struct HostProblem {
  EventCode code = EventCode::kNoPorts;
  std::string text;
  std::string cable = "";  // "": about none
};

// The events that a status shows: the newest warnings and errors.
inline constexpr std::size_t kStatusEvents = 5;

// The program and its run.
struct ProgramRun {
  std::string version = "";
  Instant started = {};  // of the node's clock
  WallClock wall_clock = [] { return WallTime{}; };
};

// `keys`: KeyRing::fingerprints(), none where the cluster has no key.
std::string status_view(const Node& node, const RelayStatus& relay, const FlowsStatus& flows, std::size_t sessions,
                        const std::vector<HostProblem>& problems, const std::vector<std::string>& keys = {},
                        const ProgramRun& run = {});

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_STATUS_VIEW_H_
