// Computes the paths of this node's flows, and decides which set-ups it may relay, from one topology.
//
//   topology -> route table -> the hops of a flow; hops that a set-up names -> check that they are this node's cables
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
  // Has only its own node until update().
  explicit PathPlanner(std::string name);

  // Replaces the topology and computes the routes again. NotFound: the topology has no node of this name. Existing
  // circuits keep their paths.
  absl::Status update(std::shared_ptr<const routing::Topology> topology);
  // Of this node's ports, for flows between two of its processes.
  void set_addresses(std::vector<std::string> addresses) { addresses_ = std::move(addresses); }

  const std::string& name() const { return name_; }
  const routing::Topology& topology() const { return *topology_; }
  const routing::RouteTable& routes() const { return *routes_; }
  bool reaches(const std::string& node) const;

  // The path for the `ordinal`-th flow from here to `destination`; to_port of its last hop is 0. NotFound: no such
  // node; Unavailable: no path. Both name the two nodes and, if the destination was reachable before, the reachable
  // node nearest to it. Between two processes of this node it is one hop that crosses no cable.
  absl::StatusOr<std::vector<Hop>> path_for_flow(const std::string& destination, std::uint64_t ordinal) const;

  // Whether this node may relay an arrived set-up: the set-up must name this node, and the hop it arrived over and the
  // next one must be cables of this node, with the neighbours, addresses and TCP ports that the topology has for them.
  // So an untrusted peer cannot choose where a relay connects to.
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
  // By node that was reachable before: the last node of the path to it that was still reachable when it was lost.
  std::map<std::string, std::string> nearest_to_lost_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_PATH_PLANNER_H_
