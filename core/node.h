// The node: one name in one topology, and what follows from it. Wires the stages together without a socket:
//
//   topology -> route table -> paths for flows; set-ups checked against the same topology; views for people.
//
// Where the topology comes from is the caller's affair: update_topology() is the seam at which a file stands today and
// discovery will. One thread.
#ifndef CABLEWAY_CORE_NODE_H_
#define CABLEWAY_CORE_NODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/circuit_setup.h"
#include "core/session_message.h"
#include "routing/route_table.h"
#include "routing/topology.h"

namespace cableway {

class Node {
 public:
  // `boot_nonce` tells two lives of one node apart. NotFound: the topology has no node of that name.
  static absl::StatusOr<Node> create(std::string name, std::uint64_t boot_nonce,
                                     std::shared_ptr<const routing::Topology> topology);

  // Replaces the topology and computes the routes anew. Circuits that are set up keep their paths.
  absl::Status update_topology(std::shared_ptr<const routing::Topology> topology);

  const std::string& name() const { return name_; }
  const routing::Topology& topology() const { return *topology_; }
  const routing::RouteTable& routes() const { return *routes_; }
  std::uint16_t relay_port() const { return topology_->node(self_).relay_port; }
  // Of this node's cable ports, without duplicates.
  std::vector<std::string> addresses() const;
  Welcome welcome() const;

  // The path for the `ordinal`-th flow from here to `destination`; to_port of its last hop is 0. NotFound: no such
  // node; Unavailable: no path. Between two processes of this node it is one hop that crosses no cable.
  absl::StatusOr<std::vector<Hop>> path_for_flow(const std::string& destination, std::uint64_t ordinal) const;

  // Whether a set-up that arrived here may be passed on: it names this node, and the hop it came over and the next one
  // are cables of this node's with the neighbours, addresses and ports that the topology gives them. So a relay never
  // connects to where a stranger says.
  absl::Status check_transit(const CircuitSetup& setup) const;

 private:
  Node(std::string name, std::uint64_t boot_nonce) : name_(std::move(name)), boot_nonce_(boot_nonce) {}

  absl::StatusOr<std::vector<Hop>> local_path() const;
  absl::Status check_hop(const Hop& hop, routing::NodeIndex from, bool any_port) const;

  std::string name_;
  std::uint64_t boot_nonce_;
  std::shared_ptr<const routing::Topology> topology_;
  std::shared_ptr<const routing::RouteTable> routes_;
  routing::NodeIndex self_;
};

}  // namespace cableway

#endif  // CABLEWAY_CORE_NODE_H_
