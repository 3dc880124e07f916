// The paths over which a node asks another one for its views.
#ifndef CABLEWAY_CORE_CLUSTER_VIEW_VIEW_PATHS_H_
#define CABLEWAY_CORE_CLUSTER_VIEW_VIEW_PATHS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/cluster_view/node_view_request.h"
#include "core/node/path_planner.h"

namespace cableway {

// Those of flows; where there is none, those of inquiries. Errors as PathPlanner::paths_for_flow().
absl::StatusOr<ViewPaths> view_paths(const PathPlanner& planner, const std::string& node, std::size_t most);

// All nodes of the topology.
std::vector<std::string> nodes_to_view(const PathPlanner& planner);

}  // namespace cableway

#endif  // CABLEWAY_CORE_CLUSTER_VIEW_VIEW_PATHS_H_
