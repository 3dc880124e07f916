// Chooses paths as running nodes do: from each node's route table, with the flows of a pair spread over its paths.
#ifndef CABLEWAY_SIM_PREDICTION_PATH_CHOOSER_H_
#define CABLEWAY_SIM_PREDICTION_PATH_CHOOSER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "routing/paths/cable_parts.h"
#include "routing/paths/path.h"
#include "routing/paths/route_table.h"
#include "routing/topology/topology.h"

namespace cableway::sim {

class PathChooser {
 public:
  // The topology outlives this.
  explicit PathChooser(const routing::Topology& topology)
      : topology_(topology), parts_(routing::CableParts::find(topology)) {}

  // The path that a process on `source` would get for its next flow to `destination`; exists() is false if there is
  // none.
  routing::Path next(routing::NodeIndex source, routing::NodeIndex destination);

 private:
  const routing::Topology& topology_;
  const std::shared_ptr<const routing::CableParts> parts_;
  std::map<routing::NodeIndex, routing::RouteTable> routes_;
  std::map<std::pair<routing::NodeIndex, routing::NodeIndex>, std::uint64_t> flows_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_PATH_CHOOSER_H_
