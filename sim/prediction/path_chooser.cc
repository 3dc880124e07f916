#include "sim/prediction/path_chooser.h"

namespace cableway::sim {

routing::Path PathChooser::next(routing::NodeIndex source, routing::NodeIndex destination) {
  auto routes = routes_.find(source);
  if (routes == routes_.end())
    routes = routes_.emplace(source, routing::compute_routes(topology_, parts_, source)).first;
  return routes->second.path_for_flow(destination, flows_[{source, destination}]++);
}

}  // namespace cableway::sim
