#include "tools/cableway/all_nodes/known_cables.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/cableway/node/node_answer.h"

namespace cableway::cli {

void KnownCables::add(const NodeDocument& node) {
  struct Found {
    std::string to;
    CableEnd here;
    bool is_up;
  };
  std::vector<Found> found;
  for (const Json& port : node.document.at("ports")) {
    const CableEnd here{node.node, text(port, "interface")};
    for (const Json& each : port.at("neighbours")) {
      found.push_back({text(each, "node"), here, text(each, "state") == "up"});
    }
  }
  for (const auto& [interface, lost] : node.document.at("lost_cables").items()) {
    found.push_back({text(lost, "node"), {node.node, interface}, false});
  }
  for (Found& each : found) {
    Cable& cable = by_node_[each.to][each.here];
    cable.is_up = cable.is_up || each.is_up;
  }
}

void KnownCables::has_fault(const CableEnd& here, const std::string& node) {
  by_node_[node][here].has_fault = true;
}

bool KnownCables::cut_off(const std::string& node) const {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return false;
  const auto& cables = found->second;
  return std::none_of(cables.begin(), cables.end(), [](const auto& each) { return each.second.is_up; }) &&
         std::any_of(cables.begin(), cables.end(), [](const auto& each) { return each.second.has_fault; });
}

}  // namespace cableway::cli
