// Ranking by what several cables share: wires, ports, plugs and PCIe roots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/paths/cable_parts.h"
#include "routing/paths/path_set.h"
#include "routing/paths/route_table.h"
#include "routing/shapes/topology_generator.h"
#include "routing/topology/physical_cable.h"
#include "tests/routing/paths/random_hosts.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using PortName = std::tuple<std::uint32_t, std::string, bool>;  // node, root or wire, whether out of the node

Topology shape(const std::string& spec) {
  absl::StatusOr<Topology> made = generate_topology(spec);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

Path flow(const Topology& topology, std::uint32_t from, std::uint32_t to, std::uint64_t ordinal) {
  return compute_routes(topology, NodeIndex{from}).path_for_flow(NodeIndex{to}, ordinal);
}

// The roots that the path leaves and enters through.
std::set<PortName> roots_of(const Topology& topology, const Path& path) {
  std::set<PortName> roots;
  for (std::size_t hop = 0; hop < path.hops(); ++hop) {
    const Port& out = topology.port_at(path.cables[hop], path.nodes[hop]);
    const Port& in = topology.port_opposite(path.cables[hop], path.nodes[hop]);
    roots.insert({out.node.value, out.root, true});
    roots.insert({in.node.value, in.root, false});
  }
  return roots;
}

std::set<std::size_t> wires_of(const Topology& topology, const Path& path) {
  const PhysicalCables physical = physical_cables(topology);
  std::set<std::size_t> wires;
  for (const CableIndex cable : path.cables) wires.insert(physical.place_of_cable[cable.value]);
  return wires;
}

template <class T>
std::size_t common(const std::set<T>& left, const std::set<T>& right) {
  std::vector<T> both;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
  return both.size();
}

std::vector<std::string> first_cables(const Topology& topology, std::uint32_t from, std::uint32_t to, int flows) {
  std::vector<std::string> names;
  for (int i = 0; i < flows; ++i) {
    names.push_back(topology.cable(flow(topology, from, to, static_cast<std::uint64_t>(i)).cables.front()).name);
  }
  return names;
}

TEST(CableParts, AreNoneWhereCablesShareNothing) {
  EXPECT_EQ(CableParts::find(shape("torus:4x4")), nullptr);
  EXPECT_EQ(CableParts::find(sample_topology(4, ring_pairs(4))), nullptr);
  // Plugs and roots of one cable each.
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2)};
  cables[0].a.plug = cables[0].b.plug = cables[0].a.root = cables[0].b.root = "x";
  EXPECT_EQ(CableParts::find(make_topology(sample_nodes(3), cables)), nullptr);
}

TEST(CableParts, OfTwoSparksAreWiresAndRootsInEachDirection) {
  const Topology topology = shape("sparks:2");
  const auto parts = CableParts::find(topology);
  ASSERT_NE(parts, nullptr);
  const auto uses = [&](const char* cable, bool from_a) { return parts->of(*topology.find_cable(cable), from_a); };
  // c0 and c1 are one wire; c0 and c2 are behind the roots r0, c1 and c3 behind r1.
  ASSERT_EQ(uses("c0", true).size(), 4U);
  EXPECT_EQ(uses("c0", true)[0], (PartUse{topology.find_cable("c0")->value, kWholePart}));
  EXPECT_EQ(uses("c0", true)[1].weight, kWholePart / 2) << "a function fills half of the wire";
  EXPECT_EQ(uses("c0", true)[1], uses("c1", true)[1]);
  EXPECT_EQ(uses("c0", true)[1], uses("c0", false)[1]);
  EXPECT_NE(uses("c0", true)[1], uses("c2", true)[1]);
  for (const std::size_t root : {2U, 3U}) {
    EXPECT_EQ(uses("c0", true)[root].weight, kWholePart);
    EXPECT_EQ(uses("c0", true)[root], uses("c2", true)[root]);
    EXPECT_NE(uses("c0", true)[root], uses("c1", true)[root]);
    EXPECT_NE(uses("c0", true)[root], uses("c0", false)[root]) << "full duplex";
  }
  EXPECT_EQ(parts->plug_place(*topology.find_cable("c0"), true), 0U) << "p0 of n0";
  EXPECT_EQ(parts->plug_place(*topology.find_cable("c0"), false), 1U) << "p1 of n1";
  EXPECT_EQ(parts->plug_place(*topology.find_cable("c2"), true), 1U);
  EXPECT_EQ(parts->wire(*topology.find_cable("c0")), parts->wire(*topology.find_cable("c1")));
  EXPECT_NE(parts->wire(*topology.find_cable("c0")), parts->wire(*topology.find_cable("c2")));
}

TEST(CableParts, ArePortsOfSwitchesAndPlugsOfSeveralWires) {
  const Topology segment = make_topology(sample_nodes(3), switch_segment(0, {0, 1, 2}));
  const auto ports = CableParts::find(segment);
  ASSERT_NE(ports, nullptr);
  EXPECT_EQ(ports->of(CableIndex{0}, true).size(), 3U);
  EXPECT_EQ(ports->of(CableIndex{0}, true)[1], ports->of(CableIndex{1}, true)[1]) << "both leave n0";
  EXPECT_EQ(ports->count(), 3U + 2 * 3U);

  std::vector<Cable> legs = {sample_cable(0, 0, 1), sample_cable(1, 0, 2)};
  for (Cable& leg : legs) leg.a.plug = "p0";
  std::vector<Node> nodes = sample_nodes(3);
  nodes[0].plugs = {{"p0", 40'000}};
  const auto plug = CableParts::find(make_topology(nodes, legs));
  ASSERT_NE(plug, nullptr);
  ASSERT_EQ(plug->of(CableIndex{0}, true).size(), 2U);
  EXPECT_EQ(plug->of(CableIndex{0}, true)[1].weight, kWholePart / 4);
  EXPECT_EQ(plug->of(CableIndex{0}, true)[1], plug->of(CableIndex{1}, true)[1]);
}

TEST(Ranking, OfTwoSparksAlternatesBetweenRootsAndWires) {
  const Topology topology = shape("sparks:2");
  EXPECT_THAT(first_cables(topology, 0, 1, 5), ElementsAre("c0", "c3", "c2", "c1", "c0"));
  // From plug p1 of n1, flow 0 takes the other half of the wire.
  EXPECT_THAT(first_cables(topology, 1, 0, 5), ElementsAre("c1", "c2", "c3", "c0", "c1"));
}

TEST(Ranking, OfNeighbouringSparksAlternatesBetweenFunctions) {
  const Topology topology = shape("sparks:4");
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (const std::uint32_t to : {(from + 1) % 4, (from + 3) % 4}) {
      for (std::uint64_t ordinal = 0; ordinal < 8; ++ordinal) {
        const std::set<PortName> now = roots_of(topology, flow(topology, from, to, ordinal));
        EXPECT_EQ(common(now, roots_of(topology, flow(topology, from, to, ordinal + 1))), 0U);
        EXPECT_EQ(now, roots_of(topology, flow(topology, from, to, ordinal + 2)));
      }
    }
  }
}

TEST(Ranking, OfOppositeSparksUsesOtherRootsForTheNextFlow) {
  const Topology topology = shape("sparks:4");
  for (std::uint32_t from = 0; from < 4; ++from) {
    const auto nth = [&](std::uint64_t ordinal) { return flow(topology, from, (from + 2) % 4, ordinal); };
    for (std::uint64_t ordinal = 0; ordinal < 4; ++ordinal) {
      const Path now = nth(ordinal);
      for (const std::size_t hop : {0U, 1U}) {
        const Cable& cable = topology.cable(now.cables[hop]);
        EXPECT_EQ(cable.a.root, topology.cable(now.cables[0]).a.root) << "it stays on its root through the relay";
      }
      if (ordinal == 3) break;
      EXPECT_EQ(common(roots_of(topology, now), roots_of(topology, nth(ordinal + 1))), 0U) << ordinal;
    }
    for (const std::uint64_t ordinal : {0U, 2U}) {
      EXPECT_EQ(common(wires_of(topology, nth(ordinal)), wires_of(topology, nth(ordinal + 1))), 0U) << ordinal;
    }
    std::set<Path> all;
    for (std::uint64_t ordinal = 0; ordinal < 8; ++ordinal) all.insert(nth(ordinal));
    EXPECT_EQ(all.size(), 8U);
  }
}

// All pairs at once, and all opposite ones, load each root alike, out and in, whether a pair has one flow or several.
TEST(Ranking, LoadsTheRootsOfARingOfSparksEvenly) {
  for (const std::uint32_t nodes : {2U, 3U, 4U, 5U, 6U, 8U, 12U, 16U}) {
    const Topology topology = shape(absl::StrCat("sparks:", nodes));
    std::vector<RouteTable> tables;
    for (std::uint32_t i = 0; i < nodes; ++i) tables.push_back(compute_routes(topology, NodeIndex{i}));
    for (const std::uint64_t flows : {1U, 2U, 4U}) {
      for (const bool opposite_only : {true, false}) {
        std::map<PortName, std::size_t> load;
        for (std::uint32_t from = 0; from < nodes; ++from) {
          for (std::uint32_t to = 0; to < nodes; ++to) {
            if (to == from || (opposite_only && to != (from + nodes / 2) % nodes)) continue;
            for (std::uint64_t i = 0; i < flows; ++i) {
              for (const PortName& root : roots_of(topology, tables[from].path_for_flow(NodeIndex{to}, i)))
                ++load[root];
            }
          }
        }
        std::size_t least = load.size() < 4U * nodes ? 0 : load.begin()->second;
        std::size_t most = 0;
        for (const auto& [root, uses] : load) {
          least = std::min(least, uses);
          most = std::max(most, uses);
        }
        // One flow for each pair may leave a root idle where each node sends to one other only.
        if (flows == 1 && (opposite_only || nodes == 2)) continue;
        EXPECT_LE(most - least, flows == 1 && nodes == 6 ? 1U : 0U)
            << nodes << " nodes, " << flows << " flows, " << opposite_only;
      }
    }
  }
}

TEST(Ranking, OppositePairsOfARingOfTwinsLoadEveryWireOnceEachWay) {
  for (const char* spec : {"twins:4", "sparks:4"}) {
    const Topology topology = shape(spec);
    for (std::uint64_t ordinal = 0; ordinal < 8; ++ordinal) {
      std::set<std::pair<std::size_t, NodeIndex>> used;
      for (std::uint32_t from = 0; from < 4; ++from) {
        const Path path = flow(topology, from, (from + 2) % 4, ordinal);
        const PhysicalCables physical = physical_cables(topology);
        for (std::size_t hop = 0; hop < 2; ++hop) {
          used.emplace(physical.place_of_cable[path.cables[hop].value], path.nodes[hop]);
        }
      }
      EXPECT_EQ(used.size(), 8U) << spec << ", flow " << ordinal;
    }
  }
}

// Two functions at each end of one wire that all hear each other, as without subnets: the pairs that share no port come
// first.
TEST(Ranking, CountsPortsThatEndSeveralCables) {
  std::vector<Cable> cables;
  for (const auto& [from, to] : {std::pair("x", "x"), {"x", "y"}, {"y", "x"}, {"y", "y"}}) {
    Cable cable = sample_cable(static_cast<std::uint32_t>(cables.size()), 0, 1);
    cable.name = absl::StrCat(from, to);
    cable.a = {NodeIndex{0}, from, absl::StrCat("fe80::", from[0] == 'x' ? 1 : 2), "p0"};
    cable.b = {NodeIndex{1}, to, absl::StrCat("fe80::", to[0] == 'x' ? 3 : 4), "p0"};
    cables.push_back(cable);
  }
  const Topology topology = make_topology(sample_nodes(2), cables);
  EXPECT_THAT(first_cables(topology, 0, 1, 4), ElementsAre("xx", "yy", "xy", "yx"));
}

// The weight of what two paths share, found from the hardware itself.
std::uint64_t shared_by_hand(const Topology& topology, const Path& left, const Path& right) {
  const PhysicalCables physical = physical_cables(topology);
  using Weights = std::map<std::string, std::uint64_t>;
  const auto parts_of = [&](const Path& path) {
    Weights parts;
    for (std::size_t hop = 0; hop < path.hops(); ++hop) {
      const CableIndex index = path.cables[hop];
      const Cable& cable = topology.cable(index);
      parts[cable.name] = 16;
      const PhysicalCable& wire = physical.cables[physical.place_of_cable[index.value]];
      const auto weight = [&](const std::vector<CableIndex>& cables, std::uint64_t rate) {
        std::uint64_t fastest = 0;
        for (const CableIndex each : cables) fastest = std::max(fastest, topology.cable(each).rate_mbps);
        return std::max<std::uint64_t>(1, std::min<std::uint64_t>(16, 16 * fastest / rate));
      };
      if (wire.cables.size() > 1) {
        parts[absl::StrCat("wire ", physical.place_of_cable[index.value])] = weight(wire.cables, wire.rate_mbps);
      }
      for (const bool out : {true, false}) {
        const NodeIndex node = path.nodes[hop + (out ? 0 : 1)];
        const Port& port = topology.port_at(index, node);
        const auto name = [&](const char* kind, const std::string& of) {
          return absl::StrCat(topology.node(node).name, " ", kind, " ", of, out ? " out" : " in");
        };
        std::vector<CableIndex> at_port;
        std::vector<CableIndex> at_plug;
        for (const Adjacency& each : topology.adjacencies(node)) {
          const Port& other = topology.port_at(each.cable, node);
          if (!port.interface.empty() && other.interface == port.interface) at_port.push_back(each.cable);
          if (!port.plug.empty() && other.plug == port.plug) at_plug.push_back(each.cable);
        }
        if (at_port.size() > 1) parts[name("port", port.interface)] = 16;
        const auto& connector = node == wire.a ? wire.shared_at_a : wire.shared_at_b;
        if (connector && !port.plug.empty()) {
          parts[name("plug", port.plug)] = weight(at_plug, physical.connectors[*connector].rate_mbps);
        }
        const CableRoots& roots = physical.roots_of_cable[index.value];
        if (const auto& root = node == cable.a.node ? roots.at_a : roots.at_b) {
          parts[name("root", port.root)] = weight(physical.roots[*root].cables, physical.roots[*root].rate_mbps);
        }
      }
    }
    return parts;
  };
  const Weights of_left = parts_of(left);
  std::uint64_t sum = 0;
  for (const auto& [name, weight] : parts_of(right)) sum += of_left.count(name) > 0 ? weight : 0;
  return sum;
}

TEST(Ranking, TakesTheLeastOverlapNextOnRandomHosts) {
  std::mt19937 random(5);
  std::size_t shared = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const Topology topology = random_hosts(random);
    const auto parts = CableParts::find(topology);
    const NodeIndex from{0};
    const NodeIndex to{static_cast<std::uint32_t>(1 + random() % (topology.node_count() - 1))};
    const ShortestPaths shortest = shortest_paths_from(topology, from);
    const std::vector<Path> ranked = ranked_shortest_paths(shortest, to, 1000, parts.get());
    std::vector<Path> back = ranked_shortest_paths(shortest_paths_from(topology, to), from, 1000, parts.get());
    for (Path& path : back) path = reversed(std::move(path));
    ASSERT_EQ(ranked, back);
    const std::vector<Path> plain = ranked_shortest_paths(shortest, to, 1000);
    EXPECT_TRUE(std::is_permutation(ranked.begin(), ranked.end(), plain.begin(), plain.end()));
    if (parts == nullptr || !share_parts(ranked, *parts)) {
      EXPECT_EQ(ranked, plain);
      continue;
    }
    ++shared;
    for (std::size_t i = 1; i < ranked.size(); ++i) {
      const auto overlap = [&](std::size_t candidate) {
        std::uint64_t sum = 0;
        for (std::size_t before = 0; before < i; ++before) {
          sum += shared_by_hand(topology, ranked[before], ranked[candidate]);
        }
        return std::pair(sum, shared_by_hand(topology, ranked[i - 1], ranked[candidate]));
      };
      const auto taken = overlap(i);
      for (std::size_t later = i + 1; later < ranked.size(); ++later) EXPECT_LE(taken, overlap(later));
    }
  }
  EXPECT_GT(shared, 150U);
}

// What two cables share elsewhere does not change the order of paths that do not cross them.
TEST(Ranking, IsNotChangedByPartsOfOtherCables) {
  std::vector<Cable> cables;
  for (const auto& [a, b] : torus_pairs(4, 4)) {
    cables.push_back(sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
  }
  const Topology torus = make_topology(sample_nodes(17), cables);
  for (const std::uint32_t number : {100U, 101U}) {
    cables.push_back(sample_cable(number, 15, 16));
    cables.back().a.plug = cables.back().b.plug = "p0";
  }
  const Topology more = make_topology(sample_nodes(17), cables);
  ASSERT_NE(CableParts::find(more), nullptr);
  for (std::uint32_t to = 1; to < 16; ++to) {
    for (const std::uint64_t ordinal : {0U, 1U, 5U}) EXPECT_EQ(flow(torus, 0, to, ordinal), flow(more, 0, to, ordinal));
  }
}

TEST(ChangedParts, AreThoseOfCablesThatShareOtherPartsThen) {
  const Topology four = shape("sparks:2");
  const auto parts = CableParts::find(four);
  std::vector<Cable> cables(four.cables().begin(), four.cables().end());
  const std::vector<Node> nodes(four.nodes().begin(), four.nodes().end());
  const std::vector<std::uint32_t> same = {0, 1, 2, 3};
  EXPECT_THAT(cables_with_changed_parts(parts.get(), parts.get(), same), IsEmpty());
  EXPECT_THAT(cables_with_changed_parts(nullptr, nullptr, same), IsEmpty());
  EXPECT_EQ(cables_with_changed_parts(parts.get(), nullptr, same).size(), 4U);
  // Without c3, c2 is alone on its wire and c1 behind its roots; c0 shares what it did. With n0's plug p0 gone, the
  // places of its plugs change.
  cables.pop_back();
  const auto fewer = CableParts::find(make_topology(nodes, cables));
  const std::vector<std::uint32_t> new_cable = {0, 1, 2, kGoneCable};
  EXPECT_THAT(cables_with_changed_parts(parts.get(), fewer.get(), new_cable),
              ElementsAre(CableIndex{1}, CableIndex{2}));
  const std::vector<std::uint32_t> old_cable = {0, 1, 2};
  EXPECT_THAT(cables_with_changed_parts(fewer.get(), parts.get(), old_cable),
              ElementsAre(CableIndex{1}, CableIndex{2}));
}

}  // namespace
}  // namespace cableway::routing
