// Compares each sample topology's drawing and every node's routes with tests/golden/<name>.golden, byte by byte.
// CABLEWAY_UPDATE_GOLDEN=1 writes the files instead; read the difference before keeping it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/route_table.h"
#include "routing/topology.h"
#include "routing/topology_drawing.h"
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

std::string golden_text(const Topology& topology) {
  std::string text = draw_topology(topology);
  absl::StrAppend(&text, "\nRanked paths; * is where flow 0 starts.\n");
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) text += routes_text(topology, NodeIndex{i});
  return text;
}

Topology parallel_cables() {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1), sample_cable(2, 1, 2),
                               sample_cable(3, 1, 2), sample_cable(4, 2, 3)};
  cables[0].rate_mbps = 100'000;
  cables[3].latency_us = 2;
  return make_topology(sample_nodes(4), cables);
}

struct Golden {
  const char* name;
  Topology topology;
};

std::ostream& operator<<(std::ostream& out, const Golden& param) {
  return out << param.name;
}

class GoldenTest : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenTest, DrawingAndRoutes) {
  const std::string actual = golden_text(GetParam().topology);
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
        Golden{"triangle", sample_topology(3, ring_pairs(3))}, Golden{"ring_4", sample_topology(4, ring_pairs(4))},
        Golden{"ring_6", sample_topology(6, ring_pairs(6))}, Golden{"line_5", sample_topology(5, line_pairs(5))},
        Golden{"star_4", sample_topology(5, star_pairs(4))}, Golden{"torus_3x3", sample_topology(9, torus_pairs(3, 3))},
        Golden{"ring_4_with_chord", sample_topology(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}})},
        Golden{"full_mesh_4", sample_topology(4, mesh_pairs(4))},
        Golden{"two_rings_bridged",
               sample_topology(8, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6}, {6, 7}, {7, 4}, {2, 4}})},
        Golden{"parallel_cables", parallel_cables()}),
    [](const ::testing::TestParamInfo<Golden>& golden) { return std::string(golden.param.name); });

}  // namespace
}  // namespace cableway::routing
