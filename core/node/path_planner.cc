#include "core/node/path_planner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway {
namespace {

// A link-local address needs an interface of the local node as its scope.
std::string as_written_on(const routing::Port& port, const std::string& address) {
  const std::size_t percent = address.find('%');
  return percent == std::string::npos ? address : absl::StrCat(address.substr(0, percent), "%", port.interface);
}

Hop make_hop(const routing::Topology& topology, routing::CableIndex index, routing::NodeIndex from) {
  const routing::Cable& cable = topology.cable(index);
  const routing::Port& leaves = topology.port_at(index, from);
  const routing::Port& arrives = topology.port_opposite(index, from);
  return Hop{.cable = cable.name,
             .from_address = leaves.address,
             .to_node = topology.node(arrives.node).name,
             .to_address = as_written_on(leaves, arrives.address),
             .to_port = topology.node(arrives.node).relay_port,
             .routed = cable.routed};
}

std::string describe(const Hop& hop) {
  return absl::StrCat("from ", hop.from_address, " to ", hop.to_node, " at ", hop.to_address, " TCP port ", hop.to_port,
                      hop.routed ? " (routed)" : "");
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

std::shared_ptr<const routing::Topology> single_node_topology(const std::string& name) {
  routing::Node node;
  node.name = name;
  // Cannot fail: the name comes from validated settings, and there is no cable.
  return std::make_shared<const routing::Topology>(
      *routing::Topology::create(routing::kDefaultCluster, {std::move(node)}, {}));
}

}  // namespace

PathPlanner::PathPlanner(std::string name)
    : name_(std::move(name)),
      topology_(single_node_topology(name_)),
      routes_(std::make_shared<const routing::RouteTable>(routing::compute_routes(*topology_, routing::NodeIndex{0}))) {
}

absl::Status PathPlanner::update(std::shared_ptr<const routing::Topology> topology) {
  const std::optional<routing::NodeIndex> self = topology->find_node(name_);
  if (!self.has_value()) {
    return absl::NotFoundError(
        absl::StrCat("the topology has no node \"", name_, "\"; it has ", known_nodes(*topology)));
  }
  auto routes = std::make_shared<const routing::RouteTable>(routing::compute_routes(*topology, *self));
  remember_lost(*topology, *routes);
  routes_ = std::move(routes);
  topology_ = std::move(topology);
  self_ = *self;
  return absl::OkStatus();
}

void PathPlanner::remember_lost(const routing::Topology& now, const routing::RouteTable& routes) {
  const auto reached_now = [&](const std::string& name) {
    const std::optional<routing::NodeIndex> index = now.find_node(name);
    return index.has_value() && routes.reaches(*index);
  };
  std::erase_if(nearest_to_lost_, [&](const auto& lost) { return reached_now(lost.first); });
  for (std::uint32_t i = 0; i < topology_->node_count(); ++i) {
    const std::string& name = topology_->node(routing::NodeIndex{i}).name;
    if (!routes_->reaches(routing::NodeIndex{i}) || reached_now(name)) continue;
    const routing::Path path = routes_->path_for_flow(routing::NodeIndex{i}, 0);
    const auto last = std::find_if(path.nodes.rbegin(), path.nodes.rend(),
                                   [&](routing::NodeIndex node) { return reached_now(topology_->node(node).name); });
    if (last != path.nodes.rend()) nearest_to_lost_[name] = topology_->node(*last).name;
  }
}

bool PathPlanner::reaches(const std::string& node) const {
  const std::optional<routing::NodeIndex> index = topology_->find_node(node);
  return index.has_value() && routes_->reaches(*index);
}

absl::Status PathPlanner::unreachable(const std::string& destination) const {
  std::string nearest = destination;
  // The nearest node may be lost by now, too. Each step leads to a node that was lost later, so the loop ends.
  for (auto lost = nearest_to_lost_.find(nearest); lost != nearest_to_lost_.end();) {
    nearest = lost->second;
    lost = nearest_to_lost_.find(nearest);
  }
  if (nearest != destination) {
    return absl::UnavailableError(absl::StrCat("node ", name_, " has lost its path to node ", destination,
                                               "; the nearest to it that can be reached is node ", nearest));
  }
  if (topology_->find_node(destination).has_value()) {
    return absl::UnavailableError(absl::StrCat("node ", name_, " has no path to node ", destination));
  }
  return absl::NotFoundError(absl::StrCat("node ", name_, " knows of no node \"", destination,
                                          "\" in its cluster; known nodes: ", known_nodes(*topology_),
                                          ". Does cablewayd run there, and are the cables in between plugged in?"));
}

absl::StatusOr<std::vector<Hop>> PathPlanner::path_for_flow(const std::string& destination,
                                                            std::uint64_t ordinal) const {
  const std::optional<routing::NodeIndex> index = topology_->find_node(destination);
  if (!index.has_value() || !routes_->reaches(*index)) return unreachable(destination);
  if (*index == self_) return local_path();
  const routing::Path path = routes_->path_for_flow(*index, ordinal);
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < path.hops(); ++i) hops.push_back(make_hop(*topology_, path.cables[i], path.nodes[i]));
  hops.back().to_port = 0;
  return hops;
}

absl::StatusOr<std::vector<Hop>> PathPlanner::local_path() const {
  if (addresses_.empty()) {
    return absl::UnavailableError(absl::StrCat("node ", name_, " has no cable port with an address"));
  }
  const std::string& own = addresses_.front();
  return std::vector<Hop>{Hop{.cable = "local", .from_address = own, .to_node = name_, .to_address = own}};
}

absl::Status PathPlanner::check_transit(const CircuitSetup& setup) const {
  if (setup.this_hop().to_node != name_) {
    return absl::InvalidArgumentError(absl::StrCat("a set-up for node ", setup.this_hop().to_node, " came to node ",
                                                   name_, ": its topology may have changed since"));
  }
  if (setup.last_hop()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a set-up for a process on node ", name_, " came to its relay port"));
  }
  const std::string& previous = setup.hop == 0 ? setup.from_node : setup.hops[setup.hop - 1U].to_node;
  const std::optional<routing::NodeIndex> neighbour = topology_->find_node(previous);
  if (!neighbour.has_value()) {
    return absl::NotFoundError(absl::StrCat("node ", name_, " has no node \"", previous, "\""));
  }
  const Hop& next = setup.hops[setup.hop + 1U];
  if (absl::Status status = check_hop(setup.this_hop(), *neighbour, false); !status.ok()) return status;
  // A destination process chooses its own TCP port; a relay's port comes from the topology.
  return check_hop(next, self_, setup.hop + 2U == setup.hops.size());
}

absl::Status PathPlanner::check_hop(const Hop& hop, routing::NodeIndex from, bool any_port) const {
  const std::optional<routing::CableIndex> cable = topology_->find_cable(hop.cable);
  const auto ends_at = [&](routing::NodeIndex node) {
    return cable.has_value() && (topology_->cable(*cable).a.node == node || topology_->cable(*cable).b.node == node);
  };
  if (!ends_at(self_) || !ends_at(from)) {
    return absl::NotFoundError(absl::StrCat("node ", name_, " has no cable \"", hop.cable, "\"",
                                            from == self_ ? "" : absl::StrCat(" to ", topology_->node(from).name),
                                            ": its topology may have changed since"));
  }
  Hop known = make_hop(*topology_, *cable, from);
  if (any_port) known.to_port = hop.to_port;
  if (hop == known) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("node ", name_, ": cable ", hop.cable, " leads ", describe(known),
                                                 " here, ", describe(hop),
                                                 " in the set-up: its topology may have changed since"));
}

}  // namespace cableway
