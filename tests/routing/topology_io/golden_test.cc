// Compares each sample topology's drawing, weak points, rank placement, the disjoint paths of one or two selected pairs
// and every node's routes with tests/golden/<name>.golden, byte by byte.
// CABLEWAY_UPDATE_GOLDEN=1 writes the files instead; read the difference before keeping it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/paths/disjoint_paths.h"
#include "routing/paths/max_flow.h"
#include "routing/paths/route_table.h"
#include "routing/paths/weak_points.h"
#include "routing/placement/rank_placement.h"
#include "routing/shapes/topology_generator.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/topology.h"
#include "routing/topology_io/topology_drawing.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

// "n0 -c0- n1 -c1- n2"
std::string path_text(const Topology& topology, const Path& path) {
  std::string text = topology.node(path.nodes[0]).name;
  for (std::size_t i = 0; i < path.hops(); ++i) {
    absl::StrAppend(&text, " -", topology.cable(path.cables[i]).name, "- ", topology.node(path.nodes[i + 1]).name);
  }
  return text;
}

std::string routes_text(const Topology& topology, NodeIndex self) {
  const RouteTable routes = compute_routes(topology, self);
  std::string text = absl::StrCat("\nroutes of ", topology.node(self).name, "\n");
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    if (i == self.value) continue;
    const Route route = routes.route_to(NodeIndex{i});
    if (route.paths.empty()) {
      absl::StrAppend(&text, "  to ", topology.node(NodeIndex{i}).name, ": no path\n");
      continue;
    }
    absl::StrAppend(&text, "  to ", topology.node(NodeIndex{i}).name, ": ", route.cost.hops,
                    route.cost.hops == 1 ? " hop, " : " hops, ", route.cost.latency_ns, " ns\n");
    const Path first = routes.path_for_flow(NodeIndex{i}, 0);
    for (const RankedPath& ranked : route.paths) {
      absl::StrAppend(&text, ranked.path == first ? "    * " : "      ", path_text(topology, ranked.path), "  ",
                      ranked.weight_mbps, " Mbit/s\n");
    }
  }
  return text;
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

std::string weak_points_text(const Topology& topology) {
  const PhysicalCables physical = physical_cables(topology);
  const WeakPoints weak = weak_points(topology, physical);
  std::vector<std::string> nodes;
  std::vector<std::string> cables;
  std::vector<std::string> connectors;
  for (const NodeIndex node : weak.nodes) nodes.push_back(topology.node(node).name);
  for (const std::size_t place : weak.cables) {
    std::vector<std::string> twins;
    for (const CableIndex cable : physical.cables[place].cables) twins.push_back(topology.cable(cable).name);
    cables.push_back(absl::StrJoin(twins, "+"));
  }
  for (const std::size_t place : weak.connectors) {
    connectors.push_back(connector_name(topology, physical, physical.connectors[place]));
  }
  return absl::StrCat("\nweak points\n  nodes: ", listed(nodes), "\n  cables: ", listed(cables),
                      "\n  connectors: ", listed(connectors), "\n");
}

std::string placement_text(const Topology& topology) {
  std::vector<NodeIndex> nodes;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) nodes.push_back(NodeIndex{i});
  const absl::StatusOr<PlacementCost> given = placement_cost(topology, nodes);
  const absl::StatusOr<RankPlacement> placement = place_ranks(topology, nodes);
  if (!placement.ok()) return absl::StrCat("\nrank placement\n  ", std::string(placement.status().message()), "\n");
  std::vector<std::string> order;
  for (const NodeIndex node : placement->order) order.push_back(topology.node(node).name);
  return absl::StrCat("\nrank placement\n  ", absl::StrJoin(order, " "), ": ", placement->cost.relays, " relays, ",
                      placement->cost.latency_ns, " ns\n  by name: ", given->relays, " relays, ", given->latency_ns,
                      " ns\n");
}

std::string disjoint_text(const Topology& topology, NodeIndex from, NodeIndex to) {
  std::string text = absl::StrCat("\ndisjoint paths of ", topology.node(from).name, " and ", topology.node(to).name,
                                  ", whose maximum flow is ", max_flow_mbps(topology, from, to), " Mbit/s\n");
  for (const DisjointPath& disjoint : disjoint_paths(topology, from, to)) {
    absl::StrAppend(&text, "  ", path_text(topology, disjoint.path), "  ", disjoint.rate_mbps, " Mbit/s\n");
  }
  return text;
}

std::string golden_text(const Topology& topology, const Pairs& telling_pairs) {
  std::string text = draw_topology(topology);
  text += weak_points_text(topology);
  text += placement_text(topology);
  for (const auto& [from, to] : telling_pairs) text += disjoint_text(topology, NodeIndex{from}, NodeIndex{to});
  absl::StrAppend(&text, "\nRanked paths; * is where flow 0 starts.\n");
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) text += routes_text(topology, NodeIndex{i});
  return text;
}

Topology parallel_cables() {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1), sample_cable(2, 1, 2),
                               sample_cable(3, 1, 2), sample_cable(4, 2, 3)};
  cables[0].rate_mbps = 100'000;
  for (Cable& cable : cables) cable.latency_us = 10000;
  cables[3].latency_us = 20000;
  return make_topology(sample_nodes(4), cables);
}

Topology twins() {
  // A ring of three whose nodes have split ports: every wire is two cables. n0 and n1 share one more cable, and n3 is
  // attached by one wire of two cables.
  std::vector<Cable> cables;
  for (std::uint32_t i = 0; i < 6; ++i) {
    cables.push_back(sample_cable(i, i / 2, (i / 2 + 1) % 3));
    cables.back().a.plug = "p0";
    cables.back().b.plug = "p1";
  }
  cables.push_back(sample_cable(6, 0, 1));
  cables.push_back(sample_cable(7, 2, 3));
  cables.push_back(sample_cable(8, 2, 3));
  for (const std::size_t i : {7, 8}) cables[i].a.plug = cables[i].b.plug = "p2";
  for (Cable& cable : cables) cable.rate_mbps = 200'000;
  return make_topology(sample_nodes(4), cables);
}

Topology switch_with_a_cable_beside_it() {
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2, 3});
  cables.push_back(sample_cable(10, 0, 1));
  cables.push_back(sample_cable(11, 3, 4));
  return make_topology(sample_nodes(5), cables);
}

Topology ring_that_drains() {
  std::vector<Cable> cables;
  for (std::uint32_t i = 0; i < 6; ++i) cables.push_back(sample_cable(i, i, (i + 1) % 6));
  std::vector<Node> nodes = sample_nodes(6);
  nodes[1].draining = true;
  return make_topology(nodes, cables);
}

struct Golden {
  const char* name;
  Topology topology;
  Pairs telling_pairs;
};

std::ostream& operator<<(std::ostream& out, const Golden& param) {
  return out << param.name;
}

class GoldenTest : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenTest, IsAsWritten) {
  const std::string actual = golden_text(GetParam().topology, GetParam().telling_pairs);
  const std::string file = absl::StrCat(CABLEWAY_GOLDEN_DIR, "/", GetParam().name, ".golden");
  if (std::getenv("CABLEWAY_UPDATE_GOLDEN") != nullptr) {  // NOLINT(concurrency-mt-unsafe): one thread
    ASSERT_TRUE(std::ofstream(file, std::ios::binary) << actual) << "cannot write " << file;
    return;
  }
  std::ifstream stream(file, std::ios::binary);
  ASSERT_TRUE(stream) << "cannot read " << file << "; CABLEWAY_UPDATE_GOLDEN=1 writes it";
  std::ostringstream expected;
  expected << stream.rdbuf();
  EXPECT_EQ(actual, expected.str()) << "differs from " << file;
}

INSTANTIATE_TEST_SUITE_P(
    Routing, GoldenTest,
    ::testing::Values(
        Golden{"triangle", sample_topology(3, ring_pairs(3), 10000), {{0, 1}}},
        Golden{"ring_4", sample_topology(4, ring_pairs(4), 10000), {{0, 1}, {0, 2}}},
        Golden{"ring_6", sample_topology(6, ring_pairs(6), 10000), {{0, 3}, {5, 1}}},
        Golden{"line_5", sample_topology(5, line_pairs(5), 10000), {{0, 4}}},
        Golden{"star_4", sample_topology(5, star_pairs(4)), {{1, 2}}},
        Golden{"torus_3x3", sample_topology(9, torus_pairs(3, 3), 10000), {{0, 1}, {0, 4}}},
        Golden{"ring_4_with_chord", sample_topology(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}}), {{0, 2}, {1, 3}}},
        Golden{"full_mesh_4", sample_topology(4, mesh_pairs(4)), {{0, 3}}},
        Golden{"two_rings_bridged",
               sample_topology(8, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {2, 4}}, 10000),
               {{0, 2}, {0, 6}}},
        Golden{"parallel_cables", parallel_cables(), {{0, 1}, {0, 2}}},
        Golden{"disconnected", sample_topology(6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}}), {{0, 2}, {0, 3}}},
        Golden{"twins", twins(), {{0, 1}, {0, 3}}}, Golden{"sparks_2", *generate_topology("sparks:2"), {{0, 1}}},
        Golden{"sparks_4", *generate_topology("sparks:4"), {{0, 1}, {0, 2}}},
        Golden{"switch_segment", switch_with_a_cable_beside_it(), {{0, 1}, {1, 4}}},
        Golden{"ring_6_draining", ring_that_drains(), {{0, 2}, {1, 4}}}),
    [](const ::testing::TestParamInfo<Golden>& golden) { return std::string(golden.param.name); });

}  // namespace
}  // namespace cableway::routing
