#include "tests/routing/paths/naive_routing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cableway::routing {
namespace {

std::uint64_t latency_ns(const Cable& cable) {
  return static_cast<std::uint64_t>(std::floor(cable.latency_us.value_or(0) / 10'000)) * 10'000'000;
}

bool has(const std::vector<NodeIndex>& nodes, NodeIndex node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

class Walks {
 public:
  Walks(const Topology& topology, NodeIndex from, NodeIndex to) : topology_(topology), to_(to) {
    walk_.nodes.push_back(from);
    extend();
  }
  std::vector<Path> found;

 private:
  void extend() {
    const NodeIndex here = walk_.nodes.back();
    if (here == to_) {
      found.push_back(walk_);
      return;
    }
    if (walk_.nodes.size() > 1 && topology_.node(here).draining) return;
    for (std::uint32_t i = 0; i < topology_.cable_count(); ++i) {
      const Cable& cable = topology_.cables()[i];
      if (cable.a.node != here && cable.b.node != here) continue;
      const NodeIndex there = cable.a.node == here ? cable.b.node : cable.a.node;
      if (has(walk_.nodes, there)) continue;
      walk_.cables.push_back(CableIndex{i});
      walk_.nodes.push_back(there);
      extend();
      walk_.cables.pop_back();
      walk_.nodes.pop_back();
    }
  }

  const Topology& topology_;
  const NodeIndex to_;
  Path walk_;
};

std::string connector_of(const Topology& topology, const Cable& cable, const Port& port) {
  const std::string& node = topology.node(port.node).name;
  if (!port.plug.empty()) return absl::StrCat(node, " plug ", port.plug);
  if (!port.interface.empty()) return absl::StrCat(node, " port ", port.interface, " ", port.address);
  return absl::StrCat(node, " end of ", cable.name);
}

// The number of components over the cables that are `left`, without the node `gone`.
std::size_t parts(const Topology& topology, const std::function<bool(std::size_t)>& is_left,
                  std::optional<NodeIndex> gone = std::nullopt) {
  std::vector<std::size_t> part(topology.node_count());
  for (std::size_t i = 0; i < part.size(); ++i) part[i] = i;
  for (std::size_t i = 0; i < topology.cable_count(); ++i) {
    const Cable& cable = topology.cables()[i];
    if (!is_left(i) || cable.a.node == gone || cable.b.node == gone) continue;
    const std::size_t from = part[cable.a.node.value];
    const std::size_t to = part[cable.b.node.value];
    for (std::size_t& of_node : part) of_node = of_node == from ? to : of_node;
  }
  return std::set<std::size_t>(part.begin(), part.end()).size();
}

bool everything(std::size_t) {
  return true;
}

}  // namespace

PathCost naive_cost(const Topology& topology, const Path& path) {
  PathCost cost;
  for (const CableIndex cable : path.cables) {
    ++cost.hops;
    cost.latency_ns += latency_ns(topology.cable(cable));
  }
  return cost;
}

std::vector<Path> naive_paths(const Topology& topology, NodeIndex from, NodeIndex to) {
  std::vector<Path> paths = Walks(topology, from, to).found;
  std::sort(paths.begin(), paths.end(), [&](const Path& left, const Path& right) {
    return std::pair(naive_cost(topology, left), left.cables) < std::pair(naive_cost(topology, right), right.cables);
  });
  return paths;
}

std::vector<std::vector<std::optional<PathCost>>> naive_distances(const Topology& topology) {
  const std::size_t count = topology.node_count();
  std::vector<std::vector<std::optional<PathCost>>> distance(count, std::vector<std::optional<PathCost>>(count));
  const auto shorten = [&](std::size_t from, std::size_t to, PathCost cost) {
    if (!distance[from][to] || cost < *distance[from][to]) distance[from][to] = cost;
  };
  for (std::size_t i = 0; i < count; ++i) distance[i][i] = PathCost{};
  for (const Cable& cable : topology.cables()) {
    shorten(cable.a.node.value, cable.b.node.value, {1, latency_ns(cable)});
    shorten(cable.b.node.value, cable.a.node.value, {1, latency_ns(cable)});
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    if (topology.node(NodeIndex{k}).draining) continue;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        const auto& first = distance[i][k];
        const auto& second = distance[k][j];
        if (first && second) {
          shorten(i, j, {first->hops + second->hops, first->latency_ns + second->latency_ns});
        }
      }
    }
  }
  return distance;
}

NaiveHardware naive_hardware(const Topology& topology) {
  NaiveHardware hardware;
  for (const Cable& cable : topology.cables()) {
    hardware.connector_a.push_back(connector_of(topology, cable, cable.a));
    hardware.connector_b.push_back(connector_of(topology, cable, cable.b));
    const bool has_plugs = !cable.a.plug.empty() && !cable.b.plug.empty();
    hardware.wire.push_back(has_plugs ? absl::StrCat(hardware.connector_a.back(), " to ", hardware.connector_b.back())
                                      : cable.name);
  }
  return hardware;
}

NaiveDisjoint naive_disjoint(const Topology& topology, NodeIndex from, NodeIndex to) {
  if (from == to) return {};
  const NaiveHardware hardware = naive_hardware(topology);
  struct Option {
    std::set<std::string> uses;
    PathCost cost;
  };
  std::vector<Option> options;
  for (const Path& path : naive_paths(topology, from, to)) {
    Option option{{}, naive_cost(topology, path)};
    for (const CableIndex cable : path.cables) {
      option.uses.insert(hardware.wire[cable.value]);
      option.uses.insert(hardware.connector_a[cable.value]);
      option.uses.insert(hardware.connector_b[cable.value]);
    }
    options.push_back(std::move(option));
  }
  NaiveDisjoint best;
  std::set<std::string> used;
  const std::function<void(std::size_t, NaiveDisjoint)> choose = [&](std::size_t first, NaiveDisjoint chosen) {
    if (chosen.count > best.count || (chosen.count == best.count && chosen.cost < best.cost)) best = chosen;
    for (std::size_t i = first; i < options.size(); ++i) {
      const Option& option = options[i];
      if (std::any_of(option.uses.begin(), option.uses.end(),
                      [&](const auto& thing) { return used.count(thing) > 0; })) {
        continue;
      }
      used.insert(option.uses.begin(), option.uses.end());
      choose(i + 1, {chosen.count + 1,
                     {chosen.cost.hops + option.cost.hops, chosen.cost.latency_ns + option.cost.latency_ns}});
      for (const std::string& thing : option.uses) used.erase(thing);
    }
  };
  choose(0, {});
  return best;
}

std::uint64_t naive_min_cut_mbps(const Topology& topology, NodeIndex from, NodeIndex to) {
  if (from == to) return 0;
  const NaiveHardware hardware = naive_hardware(topology);
  struct Wire {
    NodeIndex a, b;
    std::string connector_a, connector_b;
    std::uint64_t rate = 0;
  };
  std::map<std::string, Wire> wires;
  std::map<std::string, std::uint64_t> connectors;
  for (std::size_t i = 0; i < topology.cable_count(); ++i) {
    const Cable& cable = topology.cables()[i];
    Wire& wire = wires[hardware.wire[i]];
    wire = {cable.a.node, cable.b.node, hardware.connector_a[i], hardware.connector_b[i], wire.rate + cable.rate_mbps};
    for (const auto& [name, port] : {std::pair(wire.connector_a, &cable.a), std::pair(wire.connector_b, &cable.b)}) {
      connectors[name] = std::max(connectors[name], cable.rate_mbps);
      for (const SharedPart& plug : topology.node(port->node).plugs) {
        if (plug.name == port->plug) connectors[name] = plug.rate_mbps;
      }
    }
  }
  for (auto& [name, wire] : wires) {
    wire.rate = std::min({wire.rate, connectors[wire.connector_a], connectors[wire.connector_b]});
  }
  const auto takes_part = [&](NodeIndex node) { return node == from || node == to || !topology.node(node).draining; };
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t side = 0; side < 1U << topology.node_count(); ++side) {
    const auto is_near = [&](NodeIndex node) { return (side >> node.value & 1U) != 0; };
    if (!is_near(from) || is_near(to)) continue;
    std::vector<const Wire*> crossing;
    std::map<std::string, std::size_t> wires_at;
    for (const auto& [name, wire] : wires) {
      if (!takes_part(wire.a) || !takes_part(wire.b) || is_near(wire.a) == is_near(wire.b)) continue;
      crossing.push_back(&wire);
      ++wires_at[wire.connector_a];
      ++wires_at[wire.connector_b];
    }
    std::vector<std::string> shared;  // cutting a connector of only one wire has no advantage
    for (const auto& [name, count] : wires_at) {
      if (count > 1) shared.push_back(name);
    }
    for (std::uint32_t choice = 0; choice < 1U << shared.size(); ++choice) {
      std::set<std::string> cut;
      std::uint64_t capacity = 0;
      for (std::size_t i = 0; i < shared.size(); ++i) {
        if ((choice >> i & 1U) == 0) continue;
        cut.insert(shared[i]);
        capacity += connectors[shared[i]];
      }
      for (const Wire* wire : crossing) {
        if (cut.count(wire->connector_a) == 0 && cut.count(wire->connector_b) == 0) capacity += wire->rate;
      }
      least = std::min(least, capacity);
    }
  }
  return least;
}

std::vector<std::string> naive_roots(const Topology& topology) {
  std::vector<std::string> roots;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    const Node& node = topology.node(NodeIndex{i});
    for (const char* const name : {"r0", "r1"}) {
      std::vector<std::string> cables;
      std::map<std::string, std::uint64_t> ports;
      std::uint64_t fastest = 0;
      for (const Cable& cable : topology.cables()) {
        const Port& port = cable.a.node == NodeIndex{i} ? cable.a : cable.b;
        if (port.node != NodeIndex{i} || port.root != name) continue;
        cables.push_back(cable.name);
        std::uint64_t& rate = ports[port.address];
        rate = port.plug.empty() ? std::max(rate, cable.rate_mbps) : rate + cable.rate_mbps;
        fastest = std::max(fastest, cable.rate_mbps);
      }
      std::uint64_t sum = 0;
      for (const auto& [address, rate] : ports) sum += rate;
      for (const SharedPart& root : node.roots) {
        if (root.name == name) fastest = root.rate_mbps;
      }
      if (cables.size() < 2 || sum <= fastest) continue;
      roots.push_back(absl::StrCat(node.name, " root ", name, ": ", absl::StrJoin(cables, " "), ", ", fastest));
    }
  }
  return roots;
}

std::vector<NodeIndex> naive_weak_nodes(const Topology& topology) {
  std::vector<NodeIndex> weak;
  const std::size_t before = parts(topology, everything);
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    // The removed node is still counted as a component.
    const bool is_alone = topology.adjacencies(NodeIndex{i}).empty();
    if (!is_alone && parts(topology, everything, NodeIndex{i}) > before + 1) weak.push_back(NodeIndex{i});
  }
  return weak;
}

std::vector<std::string> naive_weak_wires(const Topology& topology) {
  const NaiveHardware hardware = naive_hardware(topology);
  std::vector<std::string> weak;
  for (const std::string& wire : std::set<std::string>(hardware.wire.begin(), hardware.wire.end())) {
    const auto is_left = [&](std::size_t cable) { return hardware.wire[cable] != wire; };
    if (parts(topology, is_left) > parts(topology, everything)) weak.push_back(wire);
  }
  return weak;
}

std::vector<std::string> naive_weak_connectors(const Topology& topology) {
  const NaiveHardware hardware = naive_hardware(topology);
  std::map<std::string, std::set<std::string>> wires;
  for (std::size_t i = 0; i < topology.cable_count(); ++i) {
    wires[hardware.connector_a[i]].insert(hardware.wire[i]);
    wires[hardware.connector_b[i]].insert(hardware.wire[i]);
  }
  std::vector<std::string> weak;
  for (const auto& [connector, ending] : wires) {
    const std::string& name = connector;
    const auto is_left = [&](std::size_t cable) {
      return hardware.connector_a[cable] != name && hardware.connector_b[cable] != name;
    };
    if (ending.size() > 1 && parts(topology, is_left) > parts(topology, everything)) weak.push_back(name);
  }
  return weak;
}

std::optional<NaiveRing> naive_best_ring(const Topology& topology, std::vector<NodeIndex> nodes) {
  const auto distance = naive_distances(topology);
  std::sort(nodes.begin(), nodes.end());
  std::optional<NaiveRing> best;
  do {
    NaiveRing ring;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const NodeIndex from = nodes[i];
      const NodeIndex to = nodes[(i + 1) % nodes.size()];
      if (from == to) continue;
      const std::optional<PathCost>& step = distance[from.value][to.value];
      if (!step) return std::nullopt;
      ring.relays += step->hops - 1;
      ring.latency_ns += step->latency_ns;
    }
    const auto rank = [](const NaiveRing& of) { return std::pair(of.relays, of.latency_ns); };
    if (!best || rank(ring) < rank(*best)) best = ring;
  } while (std::next_permutation(nodes.begin() + 1, nodes.end()));
  return best;
}

}  // namespace cableway::routing
