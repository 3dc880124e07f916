// Chooses paths as running nodes do: from each node's route table, with the flows of a pair spread over its paths.
#ifndef CABLEWAY_SIM_PREDICTION_PATH_CHOOSER_H_
#define CABLEWAY_SIM_PREDICTION_PATH_CHOOSER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/flow/circuit_share.h"
#include "routing/paths/cable_parts.h"
#include "routing/paths/path.h"
#include "routing/paths/route_table.h"
#include "routing/topology/topology.h"

namespace cableway::sim {

// A path on which a flow has a circuit, and how that shares the flow's chunks.
struct FlowPath {
  routing::Path path;
  CircuitShare share = CircuitShare::kNone;
  bool equals_first = false;  // routing::OfferedPath
};

class PathChooser {
 public:
  // The topology outlives this.
  explicit PathChooser(const routing::Topology& topology)
      : topology_(topology), parts_(routing::CableParts::find(topology)) {}

  // The next flows of this pair get these numbers, in this order (settled_numbers.h).
  void add_number(routing::NodeIndex source, routing::NodeIndex destination, std::uint64_t number) {
    given_[{source, destination}].push_back(number);
  }
  // The number of the pair's next flow, for paths(): one that was given, else flows are counted from 0.
  std::uint64_t next_flow(routing::NodeIndex source, routing::NodeIndex destination);
  // The paths that `source` offers to that flow (routing/offers/path_offers.h), the best first: the flow's first path,
  // and those that share its chunks, as far as `shares` allows. Empty: there is no path.
  std::vector<FlowPath> paths(routing::NodeIndex source, routing::NodeIndex destination, std::uint64_t flow,
                              CircuitShare shares);
  // The first path of the next flow; exists() is false if there is none.
  routing::Path next(routing::NodeIndex source, routing::NodeIndex destination);
  // Sets all cables that are gone, sorted. No later path crosses them.
  void set_gone(const std::vector<routing::CableIndex>& cables);

 private:
  const routing::RouteTable& routes_from(routing::NodeIndex source);

  const routing::Topology& topology_;
  std::optional<routing::Topology> left_;             // without the cables that are gone; nullopt: none is
  std::shared_ptr<const routing::CableParts> parts_;  // of what is left
  std::map<routing::NodeIndex, routing::RouteTable> routes_;
  std::map<std::pair<routing::NodeIndex, routing::NodeIndex>, std::uint64_t> flows_;
  std::map<std::pair<routing::NodeIndex, routing::NodeIndex>, std::deque<std::uint64_t>> given_;
};

}  // namespace cableway::sim

#endif  // CABLEWAY_SIM_PREDICTION_PATH_CHOOSER_H_
