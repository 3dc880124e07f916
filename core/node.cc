#include "core/node.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway {
namespace {

Hop make_hop(const routing::Topology& topology, routing::CableIndex index, routing::NodeIndex from) {
  const routing::Cable& cable = topology.cable(index);
  const routing::Port& arrives = topology.port_opposite(index, from);
  return Hop{.cable = cable.name,
             .from_address = topology.port_at(index, from).address,
             .to_node = topology.node(arrives.node).name,
             .to_address = arrives.address,
             .to_port = topology.node(arrives.node).relay_port,
             .routed = cable.routed};
}

std::string describe(const Hop& hop) {
  return absl::StrCat("leading from ", hop.from_address, " to ", hop.to_node, " at ", hop.to_address, " port ",
                      hop.to_port, hop.routed ? " (routed)" : "");
}

std::string known_nodes(const routing::Topology& topology) {
  constexpr std::size_t kShown = 16;
  std::vector<std::string> names;
  for (const routing::Node& node : topology.nodes()) {
    if (names.size() == kShown) {
      names.push_back("..");
      break;
    }
    names.push_back(node.name);
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<Node> Node::create(std::string name, std::uint64_t boot_nonce,
                                  std::shared_ptr<const routing::Topology> topology) {
  Node node(std::move(name), boot_nonce);
  if (absl::Status status = node.update_topology(std::move(topology)); !status.ok()) return status;
  return node;
}

absl::Status Node::update_topology(std::shared_ptr<const routing::Topology> topology) {
  const std::optional<routing::NodeIndex> self = topology->find_node(name_);
  if (!self.has_value()) {
    return absl::NotFoundError(absl::StrCat("the topology has no node \"", name_, "\"; it has ", known_nodes(*topology),
                                            ": set CABLEWAY_NODE to one of these"));
  }
  routes_ = std::make_shared<const routing::RouteTable>(routing::compute_routes(*topology, *self));
  topology_ = std::move(topology);
  self_ = *self;
  return absl::OkStatus();
}

std::vector<std::string> Node::addresses() const {
  std::vector<std::string> addresses;
  for (const routing::Adjacency& adjacency : topology_->adjacencies(self_)) {
    addresses.push_back(topology_->port_at(adjacency.cable, self_).address);
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

Welcome Node::welcome() const {
  Welcome welcome;
  welcome.node = name_;
  welcome.cluster = topology_->cluster();
  welcome.boot_nonce = boot_nonce_;
  for (const routing::Adjacency& adjacency : topology_->adjacencies(self_)) {
    welcome.rate_mbps = std::max(welcome.rate_mbps, topology_->cable(adjacency.cable).rate_mbps);
  }
  welcome.addresses = addresses();
  return welcome;
}

absl::StatusOr<std::vector<Hop>> Node::path_for_flow(const std::string& destination, std::uint64_t ordinal) const {
  const std::optional<routing::NodeIndex> index = topology_->find_node(destination);
  if (!index.has_value()) {
    return absl::NotFoundError(
        absl::StrCat("node ", name_, " knows no node \"", destination, "\"; it knows ", known_nodes(*topology_)));
  }
  if (*index == self_) return local_path();
  const routing::Path path = routes_->path_for_flow(*index, ordinal);
  if (!path.exists()) {
    return absl::UnavailableError(absl::StrCat("node ", name_, " has no path to ", destination));
  }
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < path.hops(); ++i) hops.push_back(make_hop(*topology_, path.cables[i], path.nodes[i]));
  hops.back().to_port = 0;
  return hops;
}

absl::StatusOr<std::vector<Hop>> Node::local_path() const {
  const std::vector<std::string> own = addresses();
  if (own.empty()) return absl::UnavailableError(absl::StrCat("node ", name_, " has no cable port to listen on"));
  return std::vector<Hop>{
      Hop{.cable = "local", .from_address = own.front(), .to_node = name_, .to_address = own.front()}};
}

absl::Status Node::check_transit(const CircuitSetup& setup) const {
  if (setup.this_hop().to_node != name_) {
    return absl::InvalidArgumentError(absl::StrCat("a set-up for node ", setup.this_hop().to_node, " came to node ",
                                                   name_, ": do all nodes have the same topology?"));
  }
  if (setup.last_hop()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a set-up for a process on node ", name_, " came to its relay port"));
  }
  const std::string& previous = setup.hop == 0 ? setup.from_node : setup.hops[setup.hop - 1U].to_node;
  const std::optional<routing::NodeIndex> neighbour = topology_->find_node(previous);
  if (!neighbour.has_value()) {
    return absl::NotFoundError(absl::StrCat("node ", name_, " knows no node \"", previous, "\""));
  }
  const Hop& next = setup.hops[setup.hop + 1U];
  if (absl::Status status = check_hop(setup.this_hop(), *neighbour, false); !status.ok()) return status;
  // The destination's process has a port of its own; a relay has the one that the topology says.
  return check_hop(next, self_, setup.hop + 2U == setup.hops.size());
}

absl::Status Node::check_hop(const Hop& hop, routing::NodeIndex from, bool any_port) const {
  const std::optional<routing::CableIndex> cable = topology_->find_cable(hop.cable);
  const auto ends_at = [&](routing::NodeIndex node) {
    return cable.has_value() && (topology_->cable(*cable).a.node == node || topology_->cable(*cable).b.node == node);
  };
  if (!ends_at(self_) || !ends_at(from)) {
    return absl::NotFoundError(absl::StrCat("node ", name_, " has no cable \"", hop.cable, "\"",
                                            from == self_ ? "" : absl::StrCat(" to ", topology_->node(from).name),
                                            ": do all nodes have the same topology?"));
  }
  Hop known = make_hop(*topology_, *cable, from);
  if (any_port) known.to_port = hop.to_port;
  if (hop == known) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("node ", name_, " knows cable ", hop.cable, " as ", describe(known),
                                                 ", the set-up says ", describe(hop),
                                                 ": do all nodes have the same topology?"));
}

}  // namespace cableway
