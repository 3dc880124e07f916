// Paths for this node's flows, and which set-ups of others may pass through it: what follows from one topology for one
// node.
//
//   topology -> route table -> the hops of a flow; hops that a set-up names -> are they this node's cables?
//
// One thread: the node's.
#ifndef CABLEWAY_CORE_NODE_PATH_PLANNER_H_
#define CABLEWAY_CORE_NODE_PATH_PLANNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit/circuit_setup.h"
#include "core/circuit/hop.h"
#include "routing/paths/route_table.h"
#include "routing/topology/topology.h"

namespace cableway {

class PathPlanner {
 public:
  // Knows no node but its own until update().
  explicit PathPlanner(std::string name);

  // Replaces the topology and computes the routes again. NotFound: the topology has no node of this name. Circuits that
  // are set up keep their paths.
  absl::Status update(std::shared_ptr<const routing::Topology> topology);
  // Of this node's ports, for flows between two of its processes.
  void set_addresses(std::vector<std::string> addresses) { addresses_ = std::move(addresses); }

  const std::string& name() const { return name_; }
  const routing::Topology& topology() const { return *topology_; }
  const routing::RouteTable& routes() const { return *routes_; }
  bool reaches(const std::string& node) const;

  // The path for the `ordinal`-th flow from here to `destination`; to_port of its last hop is 0. NotFound: no such
  // node; Unavailable: no path. Both name the two nodes, and the nearest to the destination that can be reached if that
  // was ever known. Between two processes of this node it is one hop that crosses no cable.
  absl::StatusOr<std::vector<Hop>> path_for_flow(const std::string& destination, std::uint64_t ordinal) const;

  // Whether a set-up that arrived here may be passed on: it names this node, and the hop it came over and the next one
  // are cables of this node's with the neighbours, addresses and ports that the topology gives them. So a relay never
  // connects to where an untrusted peer says.
  absl::Status check_transit(const CircuitSetup& setup) const;

 private:
  absl::StatusOr<std::vector<Hop>> local_path() const;
  absl::Status check_hop(const Hop& hop, routing::NodeIndex from, bool any_port) const;
  void remember_lost(const routing::Topology& now, const routing::RouteTable& routes);
  absl::Status unreachable(const std::string& destination) const;

  std::string name_;
  std::vector<std::string> addresses_;
  std::shared_ptr<const routing::Topology> topology_;
  std::shared_ptr<const routing::RouteTable> routes_;
  routing::NodeIndex self_;
  // By node that was reached once: the last node before it on the way that was still reached when it was lost.
  std::map<std::string, std::string> nearest_to_lost_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_PATH_PLANNER_H_
