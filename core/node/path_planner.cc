#include "core/node/path_planner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/offers/path_offers.h"

namespace cableway {
namespace {

// A link-local address needs an interface of the local node as its scope.
std::string as_written_on(const routing::Port& port, const std::string& address) {
  const std::size_t percent = address.find('%');
  return percent == std::string::npos ? address : absl::StrCat(address.substr(0, percent), "%", port.interface);
}

Hop make_hop(const routing::Topology& topology, const routing::Cable& cable, routing::NodeIndex from) {
  const routing::Port& leaves = cable.a.node == from ? cable.a : cable.b;
  const routing::Port& arrives = cable.a.node == from ? cable.b : cable.a;
  return Hop{.cable = cable.name,
             .from_address = leaves.address,
             .to_node = topology.node(arrives.node).name,
             .to_address = as_written_on(leaves, arrives.address),
             .to_port = topology.node(arrives.node).relay_port,
             .routed = cable.routed};
}

std::vector<Hop> hops_of(const routing::Topology& topology, const routing::Path& path) {
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < path.hops(); ++i) {
    hops.push_back(make_hop(topology, topology.cable(path.cables[i]), path.nodes[i]));
  }
  hops.back().to_port = 0;
  return hops;
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

bool PathPlanner::Usable::reaches(const std::string& node) const {
  const std::optional<routing::NodeIndex> index = topology->find_node(node);
  return index.has_value() && routes.reaches(*index);
}

PathPlanner::PathPlanner(std::string name)
    : name_(std::move(name)),
      topology_(single_node_topology(name_)),
      usable_{topology_, routing::compute_routes(*topology_, routing::NodeIndex{0})} {}

absl::Status PathPlanner::update(std::shared_ptr<const routing::Topology> topology) {
  const std::optional<routing::NodeIndex> self = topology->find_node(name_);
  if (!self.has_value()) {
    return absl::NotFoundError(
        absl::StrCat("the topology has no node \"", name_, "\"; it has ", known_nodes(*topology)));
  }
  Usable usable = usable_in(topology, Beyond::kNothing);
  remember_lost(usable);
  remember_paths(usable);
  remember_cables(*topology);
  usable_ = std::move(usable);
  proving_ = proving_in(topology);
  plugged_ = plugged_in(topology);
  lossy_ = lossy_in(topology);
  topology_ = std::move(topology);
  self_ = *self;
  return absl::OkStatus();
}

void PathPlanner::set_doubted(DoubtedCables doubted) {
  doubted_ = std::move(doubted);
  Usable usable = usable_in(topology_, Beyond::kNothing);
  remember_paths(usable);
  usable_ = std::move(usable);
  proving_ = proving_in(topology_);
  plugged_ = plugged_in(topology_);
  lossy_ = lossy_in(topology_);
}

std::optional<PathPlanner::Usable> PathPlanner::proving_in(
    const std::shared_ptr<const routing::Topology>& topology) const {
  const bool any = std::any_of(doubted_.begin(), doubted_.end(), [](const auto& each) { return each.second.proving; });
  return any ? std::optional(usable_in(topology, Beyond::kProving)) : std::nullopt;
}

std::optional<PathPlanner::Usable> PathPlanner::plugged_in(
    const std::shared_ptr<const routing::Topology>& topology) const {
  if (doubted_.empty()) return std::nullopt;
  return Usable{topology, routing::compute_routes(*topology, *topology->find_node(name_))};
}

std::optional<PathPlanner::Usable> PathPlanner::lossy_in(
    const std::shared_ptr<const routing::Topology>& topology) const {
  const auto is_left_out = [](const routing::Cable& cable) { return !cable.draining; };
  const auto& unused = usable_.topology->unused_cables();
  const bool any = std::any_of(unused.begin(), unused.end(), is_left_out);
  return any ? std::optional(usable_in(topology, Beyond::kLossy)) : std::nullopt;
}

// Precondition: this node is in the topology. A node that stands still relays nothing, as one that drains.
PathPlanner::Usable PathPlanner::usable_in(const std::shared_ptr<const routing::Topology>& topology,
                                           Beyond beyond) const {
  const routing::NodeIndex self = *topology->find_node(name_);
  if (doubted_.empty() && beyond != Beyond::kLossy) return {topology, routing::compute_routes(*topology, self)};
  std::vector<routing::Node> nodes(topology->nodes().begin(), topology->nodes().end());
  std::vector<routing::Cable> cables;
  // Without the doubted ones a cable that loses packets may be needed.
  for (routing::Cable cable : topology->plugged_cables()) {
    if (beyond == Beyond::kLossy) cable.loss_percent = 0;
    const auto doubted = doubted_.find(cable.name);
    const bool is_doubted = doubted != doubted_.end() && !(beyond == Beyond::kProving && doubted->second.proving);
    if (!is_doubted || doubted->second.only_relayed) cables.push_back(std::move(cable));
    if (!is_doubted || !doubted->second.only_relayed) continue;
    const std::optional<routing::NodeIndex> neighbour = topology->find_node(doubted->second.neighbour);
    if (neighbour.has_value()) nodes[neighbour->value].draining = true;
  }
  // Cannot fail: it is part of a valid topology, with the same nodes.
  auto usable = std::make_shared<const routing::Topology>(
      *routing::Topology::create(topology->cluster(), std::move(nodes), std::move(cables)));
  routing::RouteTable routes = routing::compute_routes(*usable, self);
  return {std::move(usable), std::move(routes)};
}

const PathPlanner::Usable& PathPlanner::usable_for(const std::string& node) const {
  return proving_.has_value() && !usable_.reaches(node) ? *proving_ : usable_;
}

void PathPlanner::remember_lost(const Usable& now) {
  std::erase_if(nearest_to_lost_, [&](const auto& lost) { return now.reaches(lost.first); });
  for (std::uint32_t i = 0; i < topology_->node_count() && nearest_to_lost_.size() < kMostLost; ++i) {
    const std::string& name = topology_->node(routing::NodeIndex{i}).name;
    if (!usable_.routes.reaches(routing::NodeIndex{i}) || now.reaches(name)) continue;
    const routing::Path path = usable_.routes.path_for_flow(routing::NodeIndex{i}, 0);
    const auto last = std::find_if(path.nodes.rbegin(), path.nodes.rend(),
                                   [&](routing::NodeIndex node) { return now.reaches(topology_->node(node).name); });
    if (last != path.nodes.rend()) nearest_to_lost_[name] = topology_->node(*last).name;
  }
}

void PathPlanner::remember_paths(const Usable& now) {
  std::erase_if(last_paths_, [&](const auto& last) { return now.reaches(last.first); });
  const routing::Topology& before = *usable_.topology;
  for (std::uint32_t i = 0; i < before.node_count() && last_paths_.size() < kMostLost; ++i) {
    const std::string& name = before.node(routing::NodeIndex{i}).name;
    if (name == name_ || !usable_.routes.reaches(routing::NodeIndex{i}) || now.reaches(name)) continue;
    const routing::Path path = usable_.routes.path_for_flow(routing::NodeIndex{i}, 0);
    if (path.hops() <= kMaxHops) last_paths_[name] = hops_of(before, path);
  }
}

void PathPlanner::remember_cables(const routing::Topology& now) {
  std::erase_if(lost_cables_, [&](const auto& lost) { return now.find_plugged(lost.first) != nullptr; });
  for (const routing::Cable& cable : topology_->plugged_cables()) {
    const bool is_own = cable.a.node == self_ || cable.b.node == self_;
    if (!is_own || now.find_plugged(cable.name) != nullptr || lost_cables_.size() == kMostLost) continue;
    const routing::NodeIndex neighbour = cable.a.node == self_ ? cable.b.node : cable.a.node;
    lost_cables_[cable.name] = {topology_->node(neighbour).name, make_hop(*topology_, cable, self_),
                                make_hop(*topology_, cable, neighbour)};
  }
}

bool PathPlanner::had_hop(const Hop& hop, const std::string& neighbour, bool any_port) const {
  const auto lost = lost_cables_.find(hop.cable);
  if (lost == lost_cables_.end() || lost->second.neighbour != neighbour) return false;
  Hop known = hop.to_node == name_ ? lost->second.arriving : lost->second.leaving;
  if (any_port) known.to_port = hop.to_port;
  return hop == known;
}

bool PathPlanner::reaches(const std::string& node) const {
  return usable_for(node).reaches(node);
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
                                               "; the nearest to it that can be reached is node ", nearest,
                                               doubts_text()));
  }
  if (topology_->find_node(destination).has_value()) {
    return absl::UnavailableError(absl::StrCat("node ", name_, " has no path to node ", destination, doubts_text()));
  }
  return absl::NotFoundError(absl::StrCat("node ", name_, " knows of no node \"", destination,
                                          "\" in its cluster; known nodes: ", known_nodes(*topology_),
                                          ". Does cablewayd run there, and are the cables in between plugged in?"));
}

absl::StatusOr<std::vector<PathOffer>> PathPlanner::paths_for_flow(const std::string& destination,
                                                                   std::uint64_t ordinal, std::size_t most) const {
  const auto& [topology, routes] = usable_for(destination);
  const std::optional<routing::NodeIndex> index = topology->find_node(destination);
  if (!index.has_value() || !routes.reaches(*index)) return unreachable(destination);
  if (*index == self_) return local_path();
  std::vector<PathOffer> offers;
  for (const routing::OfferedPath& offered : routing::offered_paths(*topology, routes, *index, ordinal, most)) {
    if (offered.path.hops() > kMaxHops) continue;
    offers.push_back({offered.kind, offered.may_stripe, hops_of(*topology, offered.path), offered.equals_first});
  }
  if (lossy_.has_value()) offer_lossy(*index, ordinal, most, offers);
  // The first path is a shortest one.
  if (!offers.empty()) return offers;
  return absl::UnavailableError(
      absl::StrCat("node ", name_, " has no path of ", kMaxHops, " cables or fewer to node ", destination));
}

absl::StatusOr<std::vector<PathOffer>> PathPlanner::paths_for_inquiry(const std::string& destination,
                                                                      std::uint64_t ordinal, std::size_t most) const {
  absl::StatusOr<std::vector<PathOffer>> offers = paths_for_flow(destination, ordinal, most);
  const std::optional<routing::NodeIndex> index = topology_->find_node(destination);
  const bool is_other = index.has_value() && *index != self_;
  const bool is_doubted = is_other && plugged_.has_value() && plugged_->routes.reaches(*index);
  if (offers.ok() && !is_doubted) return offers;
  std::vector<PathOffer> all = offers.ok() ? *offers : std::vector<PathOffer>();
  const bool has_usable = !all.empty();
  const auto add = [&](PathKind kind, std::vector<Hop> hops) {
    const auto is_same = [&](const PathOffer& offer) { return offer.hops == hops; };
    if (all.size() >= most || std::any_of(all.begin(), all.end(), is_same)) return;
    all.push_back({all.empty() ? PathKind::kFirst : kind, false, std::move(hops)});
  };
  if (is_doubted) {
    const routing::Topology& topology = *plugged_->topology;
    for (const routing::OfferedPath& offered :
         routing::offered_paths(topology, plugged_->routes, *index, ordinal, most)) {
      const PathKind kind = has_usable ? PathKind::kAlternate : offered.kind;
      if (offered.path.hops() <= kMaxHops) add(kind, hops_of(topology, offered.path));
    }
  }
  const auto last = last_paths_.find(destination);
  if (!has_usable && last != last_paths_.end()) add(PathKind::kAlternate, last->second);
  if (all.empty()) return offers.status();
  return all;
}

void PathPlanner::offer_lossy(routing::NodeIndex destination, std::uint64_t ordinal, std::size_t most,
                              std::vector<PathOffer>& offers) const {
  const routing::Topology& topology = *lossy_->topology;
  const auto is_left_out = [&](routing::CableIndex cable) {
    return !usable_.topology->find_cable(topology.cable(cable).name).has_value();
  };
  for (const routing::OfferedPath& offered :
       routing::offered_paths(topology, lossy_->routes, destination, ordinal, most)) {
    const std::vector<routing::CableIndex>& cables = offered.path.cables;
    if (offers.size() >= most || offered.path.hops() > kMaxHops) continue;
    if (std::none_of(cables.begin(), cables.end(), is_left_out)) continue;
    const PathKind kind = offers.empty() ? PathKind::kFirst : PathKind::kAlternate;
    offers.push_back({kind, offers.empty(), hops_of(topology, offered.path), false, true});
  }
}

absl::StatusOr<std::vector<PathOffer>> PathPlanner::local_path() const {
  if (addresses_.empty()) {
    return absl::UnavailableError(absl::StrCat("node ", name_, " has no cable port with an address"));
  }
  const std::string& own = addresses_.front();
  const Hop hop{.cable = "local", .from_address = own, .to_node = name_, .to_address = own};
  return std::vector<PathOffer>{{PathKind::kFirst, true, {hop}}};
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
  if (setup.purpose == SetupPurpose::kInquiry) return check_cables(setup);
  // Doubts first: a cable that left the topology during a dial does not end the set-up, and must not hide that the
  // other one is silent.
  if (absl::Status status = check_doubts(setup.this_hop(), setup.hop > 0); !status.ok()) return status;
  if (absl::Status status = check_doubts(setup.hops[setup.hop + 1U], !setup.next_is_last()); !status.ok()) {
    return status;
  }
  if (absl::Status status = check_drains(setup); !status.ok()) return status;
  return check_cables(setup);
}

absl::Status PathPlanner::check_cables(const CircuitSetup& setup) const {
  const std::string& previous = setup.this_hop_from();
  const bool is_inquiry = setup.purpose == SetupPurpose::kInquiry;
  const Hop& next = setup.hops[setup.hop + 1U];
  if (!is_inquiry || !had_hop(setup.this_hop(), previous, false)) {
    const std::optional<routing::NodeIndex> neighbour = topology_->find_node(previous);
    if (!neighbour.has_value()) {
      return absl::NotFoundError(absl::StrCat("node ", name_, " has no node \"", previous, "\""));
    }
    if (absl::Status status = check_hop(setup.this_hop(), *neighbour, false); !status.ok()) return status;
  }
  if (is_inquiry && had_hop(next, next.to_node, true)) return absl::OkStatus();
  return check_hop(next, self_, true);
}

// NotFound, so that the set-up waits: a flooded drain may be forged, and its origin corrects that.
absl::Status PathPlanner::check_drains(const CircuitSetup& setup) const {
  if (setup.purpose != SetupPurpose::kCircuit) return absl::OkStatus();
  for (const std::string& name : {setup.this_hop().cable, setup.hops[setup.hop + 1U].cable}) {
    const routing::Cable* const cable = topology_->find_plugged(name);
    if (cable == nullptr || !cable->draining) continue;
    return absl::NotFoundError(absl::StrCat("node ", name_, ": cable ", name, " drains"));
  }
  return absl::OkStatus();
}

// `to_relay`: the node at the other end of the hop relays the circuit, too.
absl::Status PathPlanner::check_doubts(const Hop& hop, bool to_relay) const {
  const auto doubted = doubted_.find(hop.cable);
  if (doubted == doubted_.end() || doubted->second.proving) return absl::OkStatus();
  if (doubted->second.only_relayed && !to_relay) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("node ", name_, " does not use cable ", hop.cable, " now: ", doubted->second.reason));
}

// One of them, as most outages have one cause.
std::string PathPlanner::doubts_text() const {
  for (const auto& [cable, doubted] : doubted_) {
    if (doubted.proving || topology_->find_plugged(cable) == nullptr) continue;
    const std::string what = doubted.only_relayed ? absl::StrCat("node ", doubted.neighbour, " relays nothing")
                                                  : absl::StrCat("it does not use cable ", cable);
    return absl::StrCat("; ", what, " now: ", doubted.reason);
  }
  return "";
}

absl::Status PathPlanner::check_hop(const Hop& hop, routing::NodeIndex from, bool any_port) const {
  const routing::Cable* const cable = topology_->find_plugged(hop.cable);
  // One that loses packets is accepted: its source may know that another cable is silent.
  const auto ends_at = [&](routing::NodeIndex node) {
    return cable != nullptr && (cable->a.node == node || cable->b.node == node);
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
