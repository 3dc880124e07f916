#include "tools/cableway/all_nodes/cluster_causes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/event/event_code.h"
#include "tools/cableway/doctor/finding_code.h"
#include "tools/cableway/node/node_answer.h"

namespace cableway::cli {

void ClusterCauses::add(const NodeDocument& node) {
  Known known{KnownCauses(node.document.at("problems"), node.node), {}};
  // A port that is used in part is a port.
  for (const Json& problem : node.document.at("problems")) {
    const std::string interface = text(problem, "interface");
    if (text(problem, "code") != name_of(EventCode::kPortUnusable) || interface.empty()) continue;
    if (port_of(node.document, interface) == nullptr) known.unusable.insert(interface);
  }
  std::vector<std::pair<CableEnd, CableEnd>> heard;
  for (const Json& port : node.document.at("ports")) {
    const CableEnd here{node.node, text(port, "interface")};
    for (const Json& neighbour : port.at("neighbours")) heard.emplace_back(cable_end_of(neighbour), here);
  }
  nodes_.insert_or_assign(node.node, std::move(known));
  for (auto& [end, hearer] : heard) hearers_[end].insert(hearer);
}

void ClusterCauses::add_one_way(const CableEnd& receiver, const CableEnd& sender) {
  one_way_.emplace(receiver, sender);
}

std::optional<CableEnd> ClusterCauses::only_hearer(const CableEnd& end) const {
  const auto found = hearers_.find(end);
  return found == hearers_.end() || found->second.size() != 1 ? std::nullopt : std::optional(*found->second.begin());
}

bool ClusterCauses::is_unusable(const CableEnd& end) const {
  const auto found = nodes_.find(end.node);
  return found != nodes_.end() && found->second.unusable.contains(end.interface);
}

bool ClusterCauses::has_unusable(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && !found->second.unusable.empty();
}

bool ClusterCauses::is_unheard(const CableEnd& here, const CableEnd& there) const {
  return one_way_.contains({there, here});
}

bool ClusterCauses::is_heard(const CableEnd& sender, const CableEnd& receiver) const {
  const auto found = hearers_.find(sender);
  return found != hearers_.end() && found->second.contains(receiver);
}

// By the node at the other end.
bool ClusterCauses::is_refused(const CableEnd& here, const CableEnd& there) const {
  const auto found = nodes_.find(there.node);
  if (found == nodes_.end()) return false;
  const KnownCauses& causes = found->second.causes;
  return causes.explain_neighbour(there.interface, here.node) ||
         causes.explain_no_answer(there.interface, here.node, is_heard(here, there));
}

bool ClusterCauses::explain(const std::string& code, const CableEnd& here, const std::optional<CableEnd>& there) const {
  const auto has_namesake = [&] {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [&](const auto& each) { return each.second.causes.has_namesake(here.node); });
  };
  if (code == name_of(EventCode::kNameDefended)) return has_namesake();
  if (code == name_of(EventCode::kNoPorts)) return has_unusable(here.node);
  if (!there) return false;
  // If two nodes have one name, their neighbour uses the cable to one of them. If it answers, it reports which.
  if (code == name_of(FindingCode::kCableUnusedThere) && !knows(there->node) && has_namesake()) return true;
  if (code == name_of(FindingCode::kCarrierMissing)) return is_unusable(*there);
  if (code == name_of(FindingCode::kNeighbourMissing)) {
    return is_unusable(*there) || is_unheard(here, *there) || is_refused(here, *there);
  }
  if (code == name_of(FindingCode::kCableOneWay) || code == name_of(FindingCode::kCableUnusedThere)) {
    return is_unusable(*there) || is_refused(here, *there);
  }
  return false;
}

}  // namespace cableway::cli
