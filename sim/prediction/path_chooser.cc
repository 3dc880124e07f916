#include "sim/prediction/path_chooser.h"

#include "core/flow_circuits/flow_paths.h"
#include "core/flow_circuits/path_share.h"
#include "routing/offers/path_offers.h"
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
  const auto given = given_.find({source, destination});
  if (given == given_.end() || given->second.empty()) return flows_[{source, destination}]++;
  const std::uint64_t number = given->second.front();
  given->second.pop_front();
  return number;
}

std::vector<FlowPath> PathChooser::paths(routing::NodeIndex source, routing::NodeIndex destination, std::uint64_t flow,
                                         CircuitShare shares) {
  const routing::RouteTable& routes = routes_from(source);
  std::vector<FlowPath> paths;
  if (shares == CircuitShare::kNone) {
    routing::Path first = routes.path_for_flow(destination, flow);
    if (first.exists()) paths.push_back({std::move(first), shares, false});
  } else {
    const routing::Topology& topology = left_ ? *left_ : topology_;
    for (routing::OfferedPath& offer : routing::offered_paths(topology, routes, destination, flow, kPathsForFlow)) {
      const CircuitShare share = share_on(offer.kind, offer.may_stripe, shares);
      if (paths.empty() || share != CircuitShare::kNone) {
        paths.push_back({std::move(offer.path), share, offer.equals_first});
      }
    }
  }
  if (!left_) return paths;
  // Cables have different numbers in the topology without the cables that are gone.
  for (FlowPath& each : paths) {
    for (routing::CableIndex& cable : each.path.cables) cable = *topology_.find_cable(left_->cable(cable).name);
  }
  return paths;
}

routing::Path PathChooser::next(routing::NodeIndex source, routing::NodeIndex destination) {
  std::vector<FlowPath> first = paths(source, destination, next_flow(source, destination), CircuitShare::kNone);
  return first.empty() ? routing::Path{} : std::move(first.front().path);
}

void PathChooser::set_gone(const std::vector<routing::CableIndex>& cables) {
  left_ = without_cables(topology_, cables);
  parts_ = routing::CableParts::find(*left_);
  routes_.clear();
}

}  // namespace cableway::sim
