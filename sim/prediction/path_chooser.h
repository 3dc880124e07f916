// Chooses paths as running nodes do: from each node's route table, with the flows of a pair spread over its paths.
#ifndef CABLEWAY_SIM_PREDICTION_PATH_CHOOSER_H_
#define CABLEWAY_SIM_PREDICTION_PATH_CHOOSER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "routing/offers/path_offers.h"
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

  // Counts the flows of a pair: the number that the next flow has, for offers().
  std::uint64_t next_flow(routing::NodeIndex source, routing::NodeIndex destination);
  // The paths that `source` offers to that flow, ranked (routing/offers/path_offers.h), at most `most`; none: there is
  // no path.
  std::vector<routing::OfferedPath> offers(routing::NodeIndex source, routing::NodeIndex destination,
                                           std::uint64_t flow, std::size_t most);
  // The first path of the next flow; exists() is false if there is none.
  routing::Path next(routing::NodeIndex source, routing::NodeIndex destination);
  // No later path crosses these cables; all that are gone, sorted.
  void set_gone(const std::vector<routing::CableIndex>& cables);

 private:
  const routing::RouteTable& routes_from(routing::NodeIndex source);

  const routing::Topology& topology_;
  std::optional<routing::Topology> left_;             // without the cables that are gone; nullopt: none is
  std::shared_ptr<const routing::CableParts> parts_;  // of what is left
  std::map<routing::NodeIndex, routing::RouteTable> routes_;
  std::map<std::pair<routing::NodeIndex, routing::NodeIndex>, std::uint64_t> flows_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_PATH_CHOOSER_H_
