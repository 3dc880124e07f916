#include "core/view/present_problems.h"

namespace cableway {

std::vector<PresentProblem> present_problems(const Node& node, const std::vector<HostProblem>& more) {
  std::vector<PresentProblem> present;
  for (const Problem& each : node.problems()) {
    present.push_back({each.code, each.interface, each.neighbour, "", each.text, each.since});
  }
  for (const std::string& text : node.left_out()) present.push_back({EventCode::kCableLeftOut, "", "", "", text, {}});
  for (const HostProblem& each : more) present.push_back({each.code, "", "", each.cable, each.text, {}, true});
  return present;
}

std::chrono::seconds seconds_since(const Node& node, Instant since) {
  return std::chrono::duration_cast<std::chrono::seconds>(node.now() - since);
}

}  // namespace cableway
