#include "sim/prediction/path_chooser.h"

#include "sim/prediction/flow_prediction.h"

namespace cableway::sim {

const routing::RouteTable& PathChooser::routes_from(routing::NodeIndex source) {
  auto routes = routes_.find(source);
  if (routes == routes_.end()) {
    routes = routes_.emplace(source, routing::compute_routes(left_ ? *left_ : topology_, parts_, source)).first;
  }
  return routes->second;
}

std::uint64_t PathChooser::next_flow(routing::NodeIndex source, routing::NodeIndex destination) {
  return flows_[{source, destination}]++;
}

std::vector<routing::OfferedPath> PathChooser::offers(routing::NodeIndex source, routing::NodeIndex destination,
                                                      std::uint64_t flow, std::size_t most) {
  const routing::RouteTable& routes = routes_from(source);
  std::vector<routing::OfferedPath> offers;
  if (most > 1) {
    offers = routing::offered_paths(left_ ? *left_ : topology_, routes, destination, flow, most);
  } else if (routing::Path first = routes.path_for_flow(destination, flow); first.exists()) {
    offers.push_back({std::move(first), routing::PathKind::kFirst, true});
  }
  if (!left_) return offers;
  // Cables have other numbers where some are gone.
  for (routing::OfferedPath& offer : offers) {
    for (routing::CableIndex& cable : offer.path.cables) cable = *topology_.find_cable(left_->cable(cable).name);
  }
  return offers;
}

routing::Path PathChooser::next(routing::NodeIndex source, routing::NodeIndex destination) {
  std::vector<routing::OfferedPath> first = offers(source, destination, next_flow(source, destination), 1);
  return first.empty() ? routing::Path{} : std::move(first.front().path);
}

void PathChooser::set_gone(const std::vector<routing::CableIndex>& cables) {
  left_ = without_cables(topology_, cables);
  parts_ = routing::CableParts::find(*left_);
  routes_.clear();
}

}  // namespace cableway::sim
