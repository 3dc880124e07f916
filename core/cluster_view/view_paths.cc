#include "core/cluster_view/view_paths.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cableway {

absl::StatusOr<ViewPaths> view_paths(const PathPlanner& planner, const std::string& node, std::size_t most) {
  ViewPaths found;
  absl::StatusOr<std::vector<PathOffer>> offers = planner.paths_for_flow(node, 0, most);
  found.last_resort = offers.status();
  if (!offers.ok()) offers = planner.paths_for_inquiry(node, 0, most);
  const std::optional<routing::NodeIndex> index = planner.topology().find_node(node);
  if (!offers.ok()) return found.last_resort;
  if (!index.has_value()) return absl::NotFoundError(absl::StrCat("the topology has no node ", node));
  for (PathOffer& offer : *offers) {
    offer.hops.back().to_port = planner.topology().node(*index).relay_port;
    found.paths.push_back(std::move(offer.hops));
  }
  return found;
}

std::vector<std::string> nodes_to_view(const PathPlanner& planner) {
  std::vector<std::string> names;
  for (const routing::Node& node : planner.topology().nodes()) names.push_back(node.name);
  return names;
}

}  // namespace cableway
