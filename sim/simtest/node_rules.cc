#include "sim/simtest/node_rules.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/discovery/full_size_hellos.h"
#include "core/discovery/port_hello.h"
#include "routing/link_state/agreed_topology.h"
#include "sim/simtest/hostile/liar.h"
#include "sim/simtest/plan/fault_reach.h"

namespace cableway::sim {
namespace {

constexpr std::size_t kNotReached = SIZE_MAX;
// A port sends ten hellos per second, and up to a hundred more while something changes. A neighbour takes 256 segments
// at once and 100 a second beyond, so as many are sent on to each other neighbour and as many acknowledged; a few are
// sent again while it does not answer.
constexpr std::uint64_t kDatagramsPerPort = 110;
constexpr std::uint64_t kDatagramsPerNeighbour = 790;
constexpr std::uint32_t kPortMtu = 1500;  // of all ports

std::string text_of(const routing::AdvertisementVersion& version) {
  return absl::StrCat(version.boot_nonce, ".", version.sequence);
}

}  // namespace

NodeRules::NodeRules(SimtestGround& ground)
    : ground_(ground),
      started_(ground.nodes.size()),
      draining_(ground.nodes.size(), false),
      versions_(ground.nodes.size()),
      datagrams_(ground.nodes.size(), 0) {
  for (std::size_t node = 0; node < ground.nodes.size(); ++node) {
    numbers_[ground.nodes.options(node).identity.id()] = node;
    draining_[node] = ground.nodes.options(node).draining;
  }
  ground.nodes.fabric().tap([this](std::size_t from, PortId port, std::span<const std::byte> bytes) {
    count_datagram(from);
    ground_.trace.add(static_cast<std::uint64_t>(ground_.clock().now().since_start.count()));
    ground_.trace.add(from << 32 | port);
    ground_.trace.add(bytes);
  });
  ground.nodes.fabric().tap_arrivals([this](const Way& way, std::span<const std::byte> bytes) {
    if (is_liar(way.from) || is_liar(way.to)) return;
    const std::uint64_t nonce = ground_.nodes.runs(way.from) ? ground_.nodes.node(way.from).identity().boot_nonce : 0;
    Heard& heard = heard_[way];
    heard.last = ground_.clock().now();
    heard.boot_nonce = nonce;
    if (bytes.size() >= full_size_bytes(kPortMtu, false)) heard.last_full_size = heard.last;
    ground_.trace.add(way.to << 32 | way.to_port);
  });
}

void NodeRules::count_datagram(std::size_t node) {
  if (node >= datagrams_.size()) return;  // a liar
  const Instant now = ground_.clock().now();
  if (now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    std::fill(datagrams_.begin(), datagrams_.end(), 0);
  }
  std::uint64_t ports = 1;
  std::uint64_t neighbours = 1;
  if (ground_.nodes.runs(node)) {
    const Neighbours& here = ground_.nodes.node(node).neighbours();
    ports = std::max<std::uint64_t>(here.ports().size(), 1);
    neighbours = std::max<std::uint64_t>(here.all().size(), ports);  // those of a moment ago count
  }
  if (++datagrams_[node] > kDatagramsPerPort * ports + kDatagramsPerNeighbour * neighbours) {
    ground_.rules.broken(6, absl::StrCat(SimtestGround::name(node), " has sent ", datagrams_[node],
                                         " datagrams within a second over ", ports, " ports"));
  }
}

void NodeRules::node_started(std::size_t node) {
  started_[node] = ground_.clock().now();
  versions_[node].clear();
}

void NodeRules::check() {
  for (std::size_t node = 0; node < ground_.nodes.size(); ++node) {
    check_bounds(node);
    if (!ground_.nodes.runs(node)) continue;
    check_adjacencies(node);
    check_versions(node);
  }
}

void NodeRules::check_adjacencies(std::size_t node) {
  for (const auto& [key, neighbour] : ground_.nodes.node(node).neighbours().all()) {
    const bool is_hurt = leads_to_liar(node, key.port) || is_held_back(node, key.port);
    if (neighbour.up && !is_hurt) check_adjacency(node, key, neighbour);
  }
}

// Whether hellos on its cable may be older than nodes can know.
bool NodeRules::is_held_back(std::size_t node, PortId port) const {
  const CableFabric& fabric = ground_.nodes.fabric();
  const FaultPlan& faults = ground_.plan.faults;
  return std::any_of(faults.begin(), faults.end(), [&](const Fault& fault) {
    if (fault.kind != FaultKind::kHold || !acts_or_acted(fault, ground_.clock().now())) return false;
    const auto& ends = fabric.ends_of(target_in(ground_.plan, fault));
    return std::find(ends.begin(), ends.end(), std::pair(node, port)) != ends.end();
  });
}

// Whether a port of the node has its cable to a party that is no node.
bool NodeRules::leads_to_liar(std::size_t node, PortId port) const {
  const CableFabric& fabric = ground_.nodes.fabric();
  for (std::size_t segment = ground_.plan.shape.segments(); segment < fabric.segment_count(); ++segment) {
    if (fabric.ends_of(segment)[0] == std::pair(node, port)) return true;
  }
  return false;
}

// Rule 3: an adjacency that is up has been heard recently, and the neighbour has heard this node recently, in its
// present incarnation; so have large packets been. Recently: within hold times (of clocks that may drift), plus the
// time for a hello to report it.
void NodeRules::check_adjacency(std::size_t node, const NeighbourKey& key, const Neighbour& neighbour) {
  const Instant now = ground_.clock().now();
  const std::size_t other = numbers_.at(key.node);
  const Duration slack = hold() / 5 + 4 * Duration(ground_.plan.hello) + std::chrono::milliseconds(200);
  const auto wrong = [&](const std::string& why) {
    ground_.rules.broken(3, absl::StrCat(SimtestGround::name(node), " considers its cable to ",
                                         SimtestGround::name(other), " up ", why));
  };
  for (const PortFacts& port : ground_.nodes.fabric().ports_of(node).ports()) {
    if (port.id == key.port && !port.carrier) return wrong("although its port has no carrier");
  }
  const auto heard = heard_.find(Way{other, key.neighbour_port, node, key.port});
  const auto heard_there = heard_.find(Way{node, key.port, other, key.neighbour_port});
  if (heard == heard_.end() || now - heard->second.last > hold() + slack)
    return wrong("although it has not heard it recently");
  if (heard_there == heard_.end() || now - heard_there->second.last > 2 * hold() + slack)
    return wrong("although it is not heard there");
  // A neighbour notices a loss within its time, and is heard or lost within another hold time.
  const Duration full_size_hold = kFullSizeEvery * hold();
  if (now - heard->second.last_full_size > full_size_hold + slack)
    return wrong("although large packets from there are lost");
  if (now - heard_there->second.last_full_size > full_size_hold + hold() + slack)
    return wrong("although large packets to it are lost");
  const bool lives = ground_.nodes.runs(other);
  const std::uint64_t nonce = lives ? ground_.nodes.node(other).identity().boot_nonce : 0;
  if (lives && neighbour.boot_nonce != nonce && now - started_[other] > hold() + slack) {
    wrong(absl::StrCat("with incarnation ", neighbour.boot_nonce, " instead of ", nonce));
  }
}

// Rule 2: a node's entry for another node is never replaced by an older one.
void NodeRules::check_versions(std::size_t node) {
  std::map<routing::NodeId, routing::AdvertisementVersion>& known = versions_[node];
  for (const auto& [origin, entry] : ground_.nodes.node(node).flooding().database().entries()) {
    const auto [before, is_new] = known.try_emplace(origin, entry.advertisement->version);
    if (!is_new && entry.advertisement->version < before->second) {
      ground_.rules.broken(
          2, absl::StrCat(SimtestGround::name(node), " held ", text_of(before->second), " of ",
                          entry.advertisement->name, " and holds ", text_of(entry.advertisement->version)));
    }
    before->second = entry.advertisement->version;
  }
}

// Rule 6.
void NodeRules::check_bounds(std::size_t node) {
  const RelayHost& relay = *ground_.hosts[node].relay;
  const auto past = [&](const char* what, std::size_t count, std::size_t bound) {
    if (count > bound) {
      ground_.rules.broken(
          6, absl::StrCat(SimtestGround::name(node), " has ", count, " ", what, "; its bound is ", bound));
    }
  };
  past("circuits through it", relay.circuits(), ground_.plan.max_circuits);
  for (const std::unique_ptr<SlotStore>& store : ground_.hosts[node].stores) {
    past(store->leases_name(), store->pool().max_leased(), store->pool().size());
  }
  if (!ground_.nodes.runs(node)) return;
  const Node& running = ground_.nodes.node(node);
  const std::size_t liars = ground_.nodes.fabric().segment_count() - ground_.plan.shape.segments();
  past("advertisements", running.flooding().database().size(), ground_.nodes.size() + liars * Liar::kMostInvented);
  past(
      "neighbours", running.neighbours().all().size(),
      (ground_.nodes.size() + ground_.plan.shape.segments()) * running.neighbours().ports().size() + liars * kMaxHeard);
  past("events", running.events().size(), EventLog::kKept);
}

std::vector<NodeRules::TrueCable> NodeRules::true_cables() const {
  const CableFabric& fabric = ground_.nodes.fabric();
  std::vector<TrueCable> cables;
  const auto drains_at = [&](std::size_t node, const std::string& name) {
    return ground_.nodes.node(node).draining_cables().contains(name);
  };
  for (std::size_t segment = 0; segment < fabric.segment_count(); ++segment) {
    const auto& ends = fabric.ends_of(segment);
    const auto works = [&](std::size_t end) {
      return !is_liar(ends[end].first) && fabric.carries_full_size(segment, end) && !fabric.is_off(ends[end].first) &&
             ground_.nodes.runs(ends[end].first);
    };
    for (std::size_t i = 0; i < ends.size(); ++i) {
      for (std::size_t j = i + 1; j < ends.size(); ++j) {
        if (!works(i) || !works(j)) continue;
        TrueCable cable{ends[i].first, ends[j].first, ground_.cable_name(segment, i, j)};
        cable.drains = drains_at(cable.a, cable.name) || drains_at(cable.b, cable.name);
        cables.push_back(std::move(cable));
      }
    }
  }
  return cables;
}

// By node: the lowest number of a node in its component.
std::vector<std::size_t> NodeRules::components(const std::vector<TrueCable>& cables) const {
  std::vector<std::size_t> lowest(ground_.nodes.size());
  for (std::size_t node = 0; node < lowest.size(); ++node) lowest[node] = node;
  for (bool changed = true; changed;) {
    changed = false;
    for (const TrueCable& cable : cables) {
      const std::size_t low = std::min(lowest[cable.a], lowest[cable.b]);
      changed = changed || lowest[cable.a] != low || lowest[cable.b] != low;
      lowest[cable.a] = lowest[cable.b] = low;
    }
  }
  return lowest;
}

// Distances in hops over cables that are not draining, through nodes that are not draining.
std::vector<std::size_t> NodeRules::distances(std::size_t from) const {
  std::vector<std::size_t> distance(ground_.nodes.size(), kNotReached);
  const std::vector<TrueCable> cables = true_cables();
  distance[from] = 0;
  std::deque<std::size_t> next{from};
  while (!next.empty()) {
    const std::size_t at = next.front();
    next.pop_front();
    if (at != from && draining_[at]) continue;
    for (const TrueCable& cable : cables) {
      if (cable.drains || (cable.a != at && cable.b != at)) continue;
      const std::size_t other = cable.a == at ? cable.b : cable.a;
      if (distance[other] != kNotReached) continue;
      distance[other] = distance[at] + 1;
      next.push_back(other);
    }
  }
  return distance;
}

bool NodeRules::reaches(std::size_t from, std::size_t to) const {
  return ground_.nodes.runs(from) && distances(from)[to] != kNotReached;
}

bool NodeRules::agree() const {
  const std::vector<std::size_t> component = components();
  for (std::size_t node = 0; node < component.size(); ++node) {
    if (!ground_.nodes.runs(node)) continue;
    if (!ground_.nodes.node(node).flooding().settled()) return false;
    const std::size_t first = component[node];
    if (!(ground_.nodes.node(node).flooding().database() == ground_.nodes.node(first).flooding().database()))
      return false;
  }
  return true;
}

void NodeRules::check_at_end() {
  const std::vector<std::size_t> component = components();
  const std::vector<TrueCable> cables = true_cables();
  for (std::size_t node = 0; node < component.size(); ++node) {
    if (!ground_.nodes.runs(node)) continue;
    const std::size_t first = component[node];
    if (!(ground_.nodes.node(node).flooding().database() == ground_.nodes.node(first).flooding().database())) {
      ground_.rules.broken(2, absl::StrCat(SimtestGround::name(node), " and ", SimtestGround::name(first),
                                           " reach each other and hold different databases"));
    }
    if (!ground_.nodes.node(node).flooding().settled()) {
      ground_.rules.broken(2, SimtestGround::name(node) + " is still flooding to a neighbour");
    }
    check_topology(node, cables, component);
    check_routes(node);
  }
}

NodeRules::Sight NodeRules::sight(std::size_t node, const std::set<std::size_t>& except) const {
  Sight sight;
  const std::vector<std::size_t> component = components();
  const routing::Topology& topology = ground_.nodes.node(node).paths().topology();
  for (const TrueCable& cable : true_cables()) {
    if (cable.drains || component[cable.a] != component[node]) continue;
    if (except.contains(cable.a) || except.contains(cable.b)) continue;
    (topology.find_cable(cable.name).has_value() ? sight.known : sight.missing).push_back(cable.name);
  }
  return sight;
}

void NodeRules::check_topology(std::size_t node) {
  if (ground_.nodes.runs(node)) check_topology(node, true_cables(), components());
}

void NodeRules::check_topology(std::size_t node, const std::vector<TrueCable>& cables,
                               const std::vector<std::size_t>& components) {
  const Difference wrong = difference(node, cables, components);
  if (wrong.none()) return;
  ground_.rules.broken(wrong.missing.empty() ? 3 : 2,
                       absl::StrCat(SimtestGround::name(node),
                                    " has a wrong topology; missing cables: ", absl::StrJoin(wrong.missing, " "),
                                    "; extra cables: ", absl::StrJoin(wrong.extra, " ")));
}

NodeRules::Difference NodeRules::difference(std::size_t node, const std::set<std::string>& except) const {
  std::vector<TrueCable> cables = true_cables();
  std::erase_if(cables, [&](const TrueCable& cable) { return except.contains(cable.name); });
  Difference found = difference(node, cables, components(cables));
  std::erase_if(found.extra, [&](const std::string& cable) { return except.contains(cable); });
  return found;
}

// Cables of a component that the node has lost contact with are ignored: their entries stay until they age out.
NodeRules::Difference NodeRules::difference(std::size_t node, const std::vector<TrueCable>& cables,
                                            const std::vector<std::size_t>& components) const {
  std::set<std::string> truth;
  for (const TrueCable& cable : cables) {
    if (!cable.drains && components[cable.a] == components[node]) truth.insert(cable.name);
  }
  std::set<std::string> seen;
  const routing::Topology& topology = ground_.nodes.node(node).paths().topology();
  for (const routing::Cable& cable : topology.cables()) {
    const auto is_here = [&](const routing::Port& port) {
      for (std::size_t other = 0; other < components.size(); ++other) {
        if (SimtestGround::name(other) == topology.node(port.node).name) return components[other] == components[node];
      }
      return false;
    };
    if (is_here(cable.a) || is_here(cable.b)) seen.insert(cable.name);
  }
  Difference found;
  std::set_difference(truth.begin(), truth.end(), seen.begin(), seen.end(), std::back_inserter(found.missing));
  std::set_difference(seen.begin(), seen.end(), truth.begin(), truth.end(), std::back_inserter(found.extra));
  return found;
}

void NodeRules::check_routes(std::size_t node) {
  Node& running = ground_.nodes.node(node);
  const auto agreed = routing::agreed_topology(running.identity().cluster, running.flooding().database());
  const std::string self = SimtestGround::name(node);
  if (!agreed.ok() || !(agreed->topology == running.paths().topology())) {
    return ground_.rules.broken(2, self + " has a topology that its database does not give");
  }
  const auto index = agreed->topology.find_node(self);
  if (!index.has_value() || !(routing::compute_routes(agreed->topology, *index) == running.paths().routes())) {
    return ground_.rules.broken(2, self + " has routes that differ from those computed from scratch");
  }
  const std::vector<std::size_t> distance = distances(node);
  const routing::RouteTable& routes = running.paths().routes();
  for (std::size_t other = 0; other < distance.size(); ++other) {
    const auto there = agreed->topology.find_node(SimtestGround::name(other));
    const bool reached = there.has_value() && routes.reaches(*there);
    const std::size_t hops = reached ? routes.shortest_paths().cost_to(*there).hops : kNotReached;
    if (hops == distance[other]) continue;
    const auto text = [](std::size_t length) {
      return length == kNotReached ? "no path" : absl::StrCat(length, " cables");
    };
    ground_.rules.broken(3, absl::StrCat(self, " has ", text(hops), " to ", SimtestGround::name(other), "; expected ",
                                         text(distance[other])));
  }
}

}  // namespace cableway::sim
