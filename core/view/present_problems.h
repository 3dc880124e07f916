// Everything that is wrong with a node now, for all that shows it: status, page and metrics.
#ifndef CABLEWAY_CORE_VIEW_PRESENT_PROBLEMS_H_
#define CABLEWAY_CORE_VIEW_PRESENT_PROBLEMS_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/node/node.h"
#include "core/view/status_view.h"

namespace cableway {

struct PresentProblem {
  EventCode code = EventCode::kPortUnusable;
  std::string interface;  // "": about no interface
  std::string neighbour;  // "": about none, or not known
  std::string cable;      // "": about none, or not known
  std::string text;
  std::optional<Instant> since;  // nullopt: it is not known
  bool of_host = false;
};

// Those of the node, cables that are left out of its topology, then `more`, those of the host.
std::vector<PresentProblem> present_problems(const Node& node, const std::vector<HostProblem>& more);

// Since then, in whole seconds.
std::chrono::seconds seconds_since(const Node& node, Instant since);

}  // namespace cableway

#endif  // CABLEWAY_CORE_VIEW_PRESENT_PROBLEMS_H_
