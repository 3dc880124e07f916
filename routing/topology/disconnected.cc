#include "routing/topology/disconnected.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cableway::routing {
namespace {

std::string names_of(const Topology& topology, const std::vector<NodeIndex>& nodes) {
  constexpr std::size_t kShown = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, nodes.size()); ++i) {
    absl::StrAppend(&names, i == 0 ? "" : ",", topology.node(nodes[i]).name);
  }
  if (nodes.size() > kShown) absl::StrAppend(&names, " and ", nodes.size() - kShown, " more");
  return names;
}

// "n0,n1 cannot reach n2,n3 (n0-n2, n0-n3, n1-n2, n1-n3)": the nodes, and the first few pairs.
std::string describe_parts(const Topology& topology, const std::vector<std::vector<NodeIndex>>& parts) {
  constexpr std::size_t kPartsShown = 4;
  constexpr std::size_t kPairsShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(kPartsShown, parts.size()); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : i == 1 ? " cannot reach " : " nor ", names_of(topology, parts[i]));
  }
  if (parts.size() > kPartsShown) absl::StrAppend(&text, " nor ", parts.size() - kPartsShown, " other groups");

  std::size_t pairs = 0;
  for (const NodeIndex from : parts[0]) {
    for (const NodeIndex to : parts[1]) {
      if (pairs == kPairsShown) return text + ", ..)";
      absl::StrAppend(&text, pairs == 0 ? " (" : ", ", topology.node(from).name, "-", topology.node(to).name);
      ++pairs;
    }
  }
  return text + ")";
}

// The connected components where unused cables join nodes, too.
std::vector<std::vector<NodeIndex>> joined_parts(const Topology& topology) {
  std::vector<std::vector<NodeIndex>> parts = topology.components();
  std::vector<std::size_t> part_of(topology.node_count());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (const NodeIndex node : parts[part]) part_of[node.value] = part;
  }
  for (const Cable& cable : topology.unused_cables()) {
    // By value: the loop below changes the elements.
    const std::pair<std::size_t, std::size_t> ends =
        std::minmax(part_of[cable.a.node.value], part_of[cable.b.node.value]);
    const auto [first, second] = ends;
    if (first == second) continue;
    for (const NodeIndex node : parts[second]) part_of[node.value] = first;
    parts[first].insert(parts[first].end(), parts[second].begin(), parts[second].end());
    parts[second].clear();
  }
  std::erase_if(parts, [](const std::vector<NodeIndex>& part) { return part.empty(); });
  for (std::vector<NodeIndex>& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

}  // namespace

std::optional<DisconnectedNode> find_disconnected(const Topology& topology) {
  const std::vector<std::vector<NodeIndex>> parts = joined_parts(topology);
  if (parts.size() == 1) return std::nullopt;
  return DisconnectedNode{parts[1].front(),
                          absl::StrCat("the topology is disconnected: ", describe_parts(topology, parts),
                                       "; expected cables that join all nodes")};
}

}  // namespace cableway::routing
