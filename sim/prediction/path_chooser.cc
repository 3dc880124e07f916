#include "sim/prediction/path_chooser.h"

#include "sim/prediction/flow_prediction.h"

namespace cableway::sim {

routing::Path PathChooser::next(routing::NodeIndex source, routing::NodeIndex destination) {
  auto routes = routes_.find(source);
  if (routes == routes_.end()) {
    routes = routes_.emplace(source, routing::compute_routes(left_ ? *left_ : topology_, parts_, source)).first;
  }
  routing::Path path = routes->second.path_for_flow(destination, flows_[{source, destination}]++);
  if (!left_) return path;
  // Cables have other numbers where some are gone.
  for (routing::CableIndex& cable : path.cables) cable = *topology_.find_cable(left_->cable(cable).name);
  return path;
}

void PathChooser::set_gone(const std::vector<routing::CableIndex>& cables) {
  left_ = without_cables(topology_, cables);
  parts_ = routing::CableParts::find(*left_);
  routes_.clear();
}

}  // namespace cableway::sim
