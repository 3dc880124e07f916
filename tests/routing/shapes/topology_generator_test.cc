#include "routing/shapes/topology_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/topology/physical_cable.h"
#include "routing/topology/port_address.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Topology made(const std::string& spec) {
  const absl::StatusOr<Topology> topology = generate_topology(spec);
  if (!topology.ok()) {
    ADD_FAILURE() << topology.status();
    return sample_topology(1, {});
  }
  return *topology;
}

// The pairs of nodes in the order of the cables' names, each in its original orientation.
Pairs pairs_of(const Topology& topology) {
  Pairs pairs;
  for (std::size_t i = 0; i < topology.cable_count(); ++i) {
    const Cable& cable = topology.cable(topology.find_cable(absl::StrCat("c", i)).value());
    const bool turned = cable.a.address.back() == '2';
    pairs.emplace_back((turned ? cable.b : cable.a).node.value, (turned ? cable.a : cable.b).node.value);
  }
  return pairs;
}

std::set<std::size_t> degrees_of(const Topology& topology) {
  std::set<std::size_t> degrees;
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) degrees.insert(topology.adjacencies(NodeIndex{i}).size());
  return degrees;
}

struct Count {
  const char* spec;
  std::size_t nodes;
  std::size_t cables;
  std::set<std::size_t> degrees;
};

std::ostream& operator<<(std::ostream& out, const Count& param) {
  return out << param.spec;
}

class CountTest : public ::testing::TestWithParam<Count> {};

TEST_P(CountTest, HasTheNodesAndCablesOfItsFormula) {
  const Topology topology = made(GetParam().spec);
  EXPECT_EQ(topology.node_count(), GetParam().nodes);
  EXPECT_EQ(topology.cable_count(), GetParam().cables);
  EXPECT_EQ(degrees_of(topology), GetParam().degrees);
  EXPECT_EQ(topology.components().size(), 1U);
  EXPECT_EQ(topology.cluster(), "cableway");
  EXPECT_EQ(topology.nodes().back().name, absl::StrCat("n", GetParam().nodes - 1));
}

INSTANTIATE_TEST_SUITE_P(
    TopologyGenerator, CountTest,
    ::testing::Values(
        Count{"line:2", 2, 1, {1}}, Count{"line:5", 5, 4, {1, 2}}, Count{"line:4096", 4096, 4095, {1, 2}},
        Count{"ring:3", 3, 3, {2}}, Count{"ring:8", 8, 8, {2}}, Count{"ring:4096", 4096, 4096, {2}},
        Count{"mesh:2", 2, 1, {1}}, Count{"mesh:7", 7, 21, {6}}, Count{"mesh:362", 362, 65341, {361}},
        Count{"star:3", 3, 2, {1, 2}}, Count{"star:9", 9, 8, {1, 8}}, Count{"star:4096", 4096, 4095, {1, 4095}},
        Count{"switch:2", 2, 1, {1}}, Count{"switch:6", 6, 15, {5}}, Count{"switch:362", 362, 65341, {361}},
        Count{"torus:2x2", 4, 4, {2}}, Count{"torus:2x4", 8, 12, {3}}, Count{"torus:4x2", 8, 12, {3}},
        Count{"torus:3x3", 9, 18, {4}}, Count{"torus:64x64", 4096, 8192, {4}}, Count{"torus:2x2x2", 8, 12, {3}},
        Count{"torus:3x4x5", 60, 180, {6}}, Count{"torus:2x3x2", 12, 24, {4}},
        Count{"torus:16x16x16", 4096, 12288, {6}}, Count{"torus:2x2048", 4096, 6144, {3}},
        Count{"hypercube:1", 2, 1, {1}}, Count{"hypercube:4", 16, 32, {4}}, Count{"hypercube:12", 4096, 24576, {12}},
        Count{"random:3,2", 3, 3, {2}}, Count{"random:20,3", 20, 30, {3}}, Count{"random:21,4,7", 21, 42, {4}},
        Count{"random:9,8", 9, 36, {8}}, Count{"random:10,9", 10, 45, {9}}, Count{"random:4096,2", 4096, 4096, {2}},
        Count{"random:4096,32,18446744073709551615", 4096, 65536, {32}}, Count{"dragonfly:2x2", 4, 3, {1, 2}},
        Count{"dragonfly:4x3", 12, 18, {3}}, Count{"dragonfly:9x4", 36, 90, {5}}, Count{"dragonfly:5x2", 10, 15, {3}},
        Count{"dragonfly:64x32", 2048, 33760, {32, 33}}, Count{"rings:3", 6, 7, {2, 3}}, Count{"rings:4", 8, 9, {2, 3}},
        Count{"rings:2048", 4096, 4097, {2, 3}}, Count{"twins:2", 2, 2, {2}}, Count{"twins:3", 3, 6, {4}},
        Count{"twins:4096", 4096, 8192, {4}}, Count{"sparks:2", 2, 4, {4}}, Count{"sparks:3", 3, 6, {4}},
        Count{"sparks:4096", 4096, 8192, {4}}));

TEST(TopologyGenerator, JoinsTheNodesOfSmallShapes) {
  EXPECT_EQ(pairs_of(made("line:3")), (Pairs{{0, 1}, {1, 2}}));
  EXPECT_EQ(pairs_of(made("ring:3")), (Pairs{{0, 1}, {1, 2}, {2, 0}}));
  EXPECT_EQ(pairs_of(made("mesh:3")), (Pairs{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(pairs_of(made("star:4")), (Pairs{{0, 1}, {0, 2}, {0, 3}}));
  EXPECT_EQ(pairs_of(made("torus:2x3")),
            (Pairs{{0, 1}, {0, 3}, {1, 2}, {1, 4}, {2, 0}, {2, 5}, {3, 4}, {4, 5}, {5, 3}}));
  EXPECT_EQ(pairs_of(made("torus:3x3")), torus_pairs(3, 3));
  EXPECT_EQ(pairs_of(made("torus:2x2x2")),
            (Pairs{{0, 1}, {0, 2}, {0, 4}, {1, 3}, {1, 5}, {2, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}, {6, 7}}));
  EXPECT_EQ(pairs_of(made("hypercube:2")), (Pairs{{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(pairs_of(made("rings:3")), (Pairs{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}}));
  EXPECT_EQ(pairs_of(made("dragonfly:3x2")), (Pairs{{0, 1}, {2, 3}, {4, 5}, {0, 2}, {1, 4}, {3, 5}}));
  EXPECT_EQ(pairs_of(made("twins:3")), (Pairs{{0, 1}, {0, 1}, {1, 2}, {1, 2}, {2, 0}, {2, 0}}));
  EXPECT_EQ(pairs_of(made("twins:2")), (Pairs{{0, 1}, {0, 1}}));
  EXPECT_EQ(pairs_of(made("sparks:3")), pairs_of(made("twins:3")));
  EXPECT_EQ(pairs_of(made("sparks:2")), (Pairs{{0, 1}, {0, 1}, {1, 0}, {1, 0}}));
}

TEST(TopologyGenerator, JoinsGridNodesToTheirNeighboursInEachDimension) {
  const Topology torus = made("torus:3x4x5");
  const auto number = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) { return NodeIndex{(x * 4 + y) * 5 + z}; };
  for (std::uint32_t x = 0; x < 3; ++x) {
    for (std::uint32_t y = 0; y < 4; ++y) {
      for (std::uint32_t z = 0; z < 5; ++z) {
        for (const NodeIndex next : {number((x + 1) % 3, y, z), number(x, (y + 1) % 4, z), number(x, y, (z + 1) % 5)}) {
          EXPECT_EQ(torus.cables_between(number(x, y, z), next).size(), 1U) << x << "," << y << "," << z;
        }
      }
    }
  }
}

TEST(TopologyGenerator, HypercubeNeighboursDifferInOneBit) {
  const Topology hypercube = made("hypercube:6");
  for (const Cable& cable : hypercube.cables()) {
    EXPECT_TRUE(std::has_single_bit(cable.a.node.value ^ cable.b.node.value));
  }
}

TEST(TopologyGenerator, DragonflySpreadsTheCablesOfAGroupOverItsNodes) {
  for (const auto& [groups, routers] : {std::pair(9U, 4U), std::pair(6U, 4U), std::pair(3U, 5U)}) {
    const Topology topology = made(absl::StrCat("dragonfly:", groups, "x", routers));
    std::set<std::pair<std::uint32_t, std::uint32_t>> joined;
    std::vector<std::size_t> global(topology.node_count());
    for (const Cable& cable : topology.cables()) {
      const std::pair pair(cable.a.node.value / routers, cable.b.node.value / routers);
      if (pair.first == pair.second) continue;
      EXPECT_TRUE(joined.insert(pair).second) << "two cables between two groups";
      ++global[cable.a.node.value];
      ++global[cable.b.node.value];
    }
    EXPECT_EQ(joined.size(), groups * (groups - 1) / 2);
    const auto [least, most] = std::minmax_element(global.begin(), global.end());
    EXPECT_LE(*most - *least, 1U);
  }
}

TEST(TopologyGenerator, RandomGraphsAreSimpleAndConnectedAndRegular) {
  for (int seed = 0; seed < 300; ++seed) {
    const std::uint32_t nodes = 3 + static_cast<std::uint32_t>(seed) % 17;
    for (std::uint32_t degree = 2; degree < nodes; ++degree) {
      if (nodes * degree % 2 != 0) continue;
      const Topology topology = made(absl::StrCat("random:", nodes, ",", degree, ",", seed));
      ASSERT_EQ(topology.components().size(), 1U) << nodes << "," << degree << "," << seed;
      ASSERT_EQ(degrees_of(topology), std::set<std::size_t>{degree}) << nodes << "," << degree << "," << seed;
      for (const Cable& cable : topology.cables()) {
        ASSERT_EQ(topology.cables_between(cable.a.node, cable.b.node).size(), 1U);
      }
    }
  }
}

TEST(TopologyGenerator, RandomGraphsDependOnTheSeedOnly) {
  // Recorded values: they must not change with compilers, libraries or machines.
  EXPECT_EQ(pairs_of(made("random:8,3")),
            (Pairs{{0, 1}, {0, 4}, {0, 6}, {1, 2}, {1, 7}, {2, 4}, {2, 5}, {3, 4}, {3, 5}, {3, 7}, {5, 6}, {6, 7}}));
  EXPECT_EQ(made("random:8,3"), made("random:8,3,0"));
  std::set<Pairs> different;
  for (int seed = 0; seed < 20; ++seed) different.insert(pairs_of(made(absl::StrCat("random:30,4,", seed))));
  EXPECT_EQ(different.size(), 20U);
}

TEST(TopologyGenerator, NamesPortsAsTheLabDoes) {
  const Topology ring = made("ring:300");
  const auto cable = [&](const char* name) { return ring.cable(ring.find_cable(name).value()); };
  EXPECT_EQ(cable("c0").a, (Port{NodeIndex{0}, "to-n1", "10.7.0.1", "", ""}));
  EXPECT_EQ(cable("c0").b, (Port{NodeIndex{1}, "to-n0", "10.7.0.2", "", ""}));
  EXPECT_EQ(cable("c255").a.address, "10.7.255.1");
  EXPECT_EQ(cable("c256").a.address, "10.8.0.1");
  EXPECT_EQ(cable("c299").a, (Port{NodeIndex{0}, "to-n299", "10.8.43.2", "", ""}));
}

TEST(TopologyGenerator, TwinsAreTwoCablesOfOneWire) {
  const Topology twins = made("twins:4@200G");
  const PhysicalCables physical = physical_cables(twins);
  ASSERT_EQ(physical.cables.size(), 4U);
  for (const PhysicalCable& wire : physical.cables) {
    EXPECT_EQ(wire.cables.size(), 2U);
    EXPECT_EQ(wire.rate_mbps, 200'000U);
  }
  EXPECT_TRUE(physical.connectors.empty());
  EXPECT_EQ(physical_cables(made("twins:2")).cables.size(), 1U);
  EXPECT_EQ(twins.cable(twins.find_cable("c1").value()).a, (Port{NodeIndex{0}, "to-n1-2", "10.7.1.1", "p0", ""}));
}

TEST(TopologyGenerator, SparksHaveTwoPlugsAcrossTwoRoots) {
  const Topology sparks = made("sparks:4");
  for (const Node& node : sparks.nodes()) {
    EXPECT_THAT(node.plugs, ElementsAre(SharedPart{"p0", 200'000}, SharedPart{"p1", 200'000}));
    EXPECT_THAT(node.roots, ElementsAre(SharedPart{"r0", 98'300}, SharedPart{"r1", 98'300}));
  }
  const auto cable = [&](const char* name) { return sparks.cable(sparks.find_cable(name).value()); };
  EXPECT_EQ(cable("c0").a, (Port{NodeIndex{0}, "to-n1", "10.7.0.1", "p0", "r0"}));
  EXPECT_EQ(cable("c0").b, (Port{NodeIndex{1}, "to-n0", "10.7.0.2", "p1", "r0"}));
  EXPECT_EQ(cable("c1").a, (Port{NodeIndex{0}, "to-n1-2", "10.7.1.1", "p0", "r1"}));
  EXPECT_EQ(cable("c1").b, (Port{NodeIndex{1}, "to-n0-2", "10.7.1.2", "p1", "r1"}));
  EXPECT_EQ(cable("c7").a, (Port{NodeIndex{0}, "to-n3-2", "10.7.7.2", "p1", "r1"}));
  for (const Cable& each : sparks.cables()) EXPECT_EQ(each.rate_mbps, 98'300U);

  const PhysicalCables physical = physical_cables(sparks);
  ASSERT_EQ(physical.cables.size(), 4U);
  for (const PhysicalCable& wire : physical.cables) EXPECT_EQ(wire.rate_mbps, 196'600U);
  EXPECT_TRUE(physical.connectors.empty());
  ASSERT_EQ(physical.roots.size(), 8U);
  for (const SharedRoot& root : physical.roots) {
    EXPECT_EQ(root.rate_mbps, 98'300U);
    ASSERT_EQ(root.cables.size(), 2U);
    EXPECT_NE(physical.place_of_cable[root.cables[0].value], physical.place_of_cable[root.cables[1].value]);
  }
}

TEST(TopologyGenerator, TwoSparksAreJoinedByBothPlugs) {
  const Topology sparks = made("sparks:2");
  std::vector<std::string> plugs;
  for (const Cable& cable : sparks.cables()) {
    plugs.push_back(absl::StrCat(cable.a.plug, cable.a.root, "-", cable.b.plug, cable.b.root));
  }
  EXPECT_THAT(plugs, ElementsAre("p0r0-p1r0", "p0r1-p1r1", "p1r0-p0r0", "p1r1-p0r1"));
  const PhysicalCables physical = physical_cables(sparks);
  EXPECT_EQ(physical.cables.size(), 2U);
  EXPECT_EQ(physical.roots.size(), 4U);
}

// The rate of a shape is that of its plugs; that of a spark's PCIe links is its own.
TEST(TopologyGenerator, SparksOfOtherPlugsHaveTheSameRoots) {
  struct Facts {
    std::uint64_t plug, cable, wire;
    std::size_t roots;
  };
  const auto expect = [](const char* spec, const Facts& facts) {
    SCOPED_TRACE(spec);
    const Topology sparks = made(spec);
    const PhysicalCables physical = physical_cables(sparks);
    EXPECT_EQ(sparks.node(NodeIndex{0}).plugs[1].rate_mbps, facts.plug);
    EXPECT_EQ(sparks.node(NodeIndex{0}).roots[1].rate_mbps, 98'300U);
    EXPECT_EQ(sparks.cables()[0].rate_mbps, facts.cable);
    EXPECT_EQ(physical.cables[0].rate_mbps, facts.wire);
    EXPECT_EQ(physical.roots.size(), facts.roots);
  };
  expect("sparks:4@400G", {400'000, 98'300, 196'600, 8});
  expect("sparks:4@100G", {100'000, 98'300, 100'000, 8});
  expect("sparks:4@50G", {50'000, 50'000, 50'000, 8});
  expect("sparks:4@40G", {40'000, 40'000, 40'000, 0});
  EXPECT_EQ(made("sparks:4@100G,2us").cables()[0].latency_us, 2);
}

TEST(TopologyGenerator, SwitchedNodesHaveOnePortEach) {
  const Topology topology = made("switch:300@10G");
  const PhysicalCables physical = physical_cables(topology);
  ASSERT_EQ(physical.connectors.size(), 300U);
  for (const SharedConnector& connector : physical.connectors) {
    EXPECT_EQ(connector.physical_cables.size(), 299U);
    EXPECT_EQ(connector.rate_mbps, 10'000U);
  }
  const Cable& cable = topology.cable(topology.find_cable("n0-n299").value());
  EXPECT_EQ(cable.a, (Port{NodeIndex{0}, "to-s0", "10.7.0.1", "", ""}));
  EXPECT_EQ(cable.b, (Port{NodeIndex{299}, "to-s0", "10.7.1.44", "", ""}));
}

TEST(TopologyGenerator, AppliesRateAndLatencyToAllCables) {
  const auto values = [](const std::string& spec) {
    const Topology topology = made(spec);
    for (const Cable& cable : topology.cables()) {
      EXPECT_EQ(cable.rate_mbps, topology.cables()[0].rate_mbps);
      EXPECT_EQ(cable.latency_us, topology.cables()[0].latency_us);
    }
    return std::pair(topology.cables()[0].rate_mbps, topology.cables()[0].latency_us);
  };
  constexpr std::optional<double> kUnknown;
  EXPECT_EQ(values("ring:8"), std::pair(kDefaultRateMbps, kUnknown));
  EXPECT_EQ(values("ring:8@100Gbit/s"), std::pair(100'000UL, kUnknown));
  EXPECT_EQ(values("ring:8@200G,2us"), std::pair(200'000UL, std::optional(2.0)));
  EXPECT_EQ(values("switch:4@500ns,40Mbit/s"), std::pair(40UL, std::optional(0.5)));
  EXPECT_EQ(values("random:8,3,5@1ms"), std::pair(kDefaultRateMbps, std::optional(1000.0)));
}

TEST(TopologyGenerator, DistinguishesSpecsFromFiles) {
  for (const char* spec : {"ring:8", "rung:8", "ring:", "a:b/c", "torus:4x4@100Gbit/s,2us"}) {
    EXPECT_TRUE(is_topology_spec(spec)) << spec;
  }
  for (const char* file : {"", "ring", "ring.toml", "./ring:8", "/ring:8", ":8", "Ring:8", "ring8:x", "a-b:1"}) {
    EXPECT_FALSE(is_topology_spec(file)) << file;
  }
}

struct BadSpec {
  const char* spec;
  const char* error;  // after the spec
};

std::ostream& operator<<(std::ostream& out, const BadSpec& param) {
  return out << param.spec;
}

class BadSpecTest : public ::testing::TestWithParam<BadSpec> {};

TEST_P(BadSpecTest, IsRefusedWithWhatWasExpected) {
  const absl::StatusOr<Topology> topology = generate_topology(GetParam().spec);
  ASSERT_FALSE(topology.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(topology.status()));
  EXPECT_EQ(std::string(topology.status().message()),
            absl::StrCat("spec \"", GetParam().spec, "\": ", GetParam().error));
}

constexpr char kForms[] =
    "expected line:N, ring:N, mesh:N, star:N, switch:N, torus:AxB[xC], hypercube:D, random:N,K[,SEED], dragonfly:GxN, "
    "rings:N, twins:N, sparks:N";
constexpr char kRates[] =
    " is not the rate of a cable; expected 1Mbit/s to 10Tbit/s in whole Mbit/s, such as 100Gbit/s or 100G, or a "
    "latency "
    "such as 2us";

std::string with(const std::string& text, const char* rest) {
  return text + rest;
}

const std::string kUnknown = with("unknown shape \"tree\"; ", kForms);
const std::string kMistyped = with("unknown shape \"rign\" (did you mean \"ring\"?); ", kForms);
const std::string kNothing = with("unknown shape \"\"; ", kForms);
const std::string kNoRate = with("\"5\"", kRates);
const std::string kEmptyRate = with("\"\"", kRates);

INSTANTIATE_TEST_SUITE_P(
    TopologyGenerator, BadSpecTest,
    ::testing::Values(
        BadSpec{"tree:4", kUnknown.c_str()}, BadSpec{"rign:4", kMistyped.c_str()}, BadSpec{"", kNothing.c_str()},
        BadSpec{"@1G", kNothing.c_str()},
        BadSpec{"ring", "invalid parameters \"\" of ring; expected ring:N, such as ring:4"},
        BadSpec{"ring:", "invalid parameters \"\" of ring; expected ring:N, such as ring:4"},
        BadSpec{"ring:x", "invalid parameters \"x\" of ring; expected ring:N, such as ring:4"},
        BadSpec{"ring:-4", "invalid parameters \"-4\" of ring; expected ring:N, such as ring:4"},
        BadSpec{"ring: 4", "invalid parameters \" 4\" of ring; expected ring:N, such as ring:4"},
        BadSpec{"ring:4,4", "invalid parameters \"4,4\" of ring; expected ring:N, such as ring:4"},
        BadSpec{"ring:4x4", "invalid parameters \"4x4\" of ring; expected ring:N, such as ring:4"},
        BadSpec{"ring:99999999999999999999",
                "invalid parameters \"99999999999999999999\" of ring; expected ring:N, such as ring:4"},
        BadSpec{"torus:4", "invalid parameters \"4\" of torus; expected torus:AxB[xC], such as torus:4x4"},
        BadSpec{"torus:4x4x4x4", "invalid parameters \"4x4x4x4\" of torus; expected torus:AxB[xC], such as torus:4x4"},
        BadSpec{"torus:4,4", "invalid parameters \"4,4\" of torus; expected torus:AxB[xC], such as torus:4x4"},
        BadSpec{"random:8", "invalid parameters \"8\" of random; expected random:N,K[,SEED], such as random:8,3"},
        BadSpec{"dragonfly:8", "invalid parameters \"8\" of dragonfly; expected dragonfly:GxN, such as dragonfly:4x3"},
        BadSpec{"line:1", "1 nodes; expected 2 to 4096"}, BadSpec{"line:4097", "4097 nodes; expected 2 to 4096"},
        BadSpec{"ring:2", "2 nodes; expected 3 to 4096"}, BadSpec{"ring:4097", "4097 nodes; expected 3 to 4096"},
        BadSpec{"mesh:1", "1 nodes; expected 2 to 362"}, BadSpec{"mesh:363", "363 nodes; expected 2 to 362"},
        BadSpec{"switch:1", "1 nodes; expected 2 to 362"}, BadSpec{"switch:363", "363 nodes; expected 2 to 362"},
        BadSpec{"star:2", "2 nodes; expected 3 to 4096"}, BadSpec{"star:4097", "4097 nodes; expected 3 to 4096"},
        BadSpec{"twins:1", "1 nodes; expected 2 to 4096"}, BadSpec{"twins:4097", "4097 nodes; expected 2 to 4096"},
        BadSpec{"sparks:1", "1 nodes; expected 2 to 4096"}, BadSpec{"sparks:4097", "4097 nodes; expected 2 to 4096"},
        BadSpec{"rings:2", "2 nodes per ring; expected 3 to 2048"},
        BadSpec{"rings:2049", "2049 nodes per ring; expected 3 to 2048"},
        BadSpec{"torus:1x4", "1 nodes in a dimension; expected 2 to 4096"},
        BadSpec{"torus:2x4097", "4097 nodes in a dimension; expected 2 to 4096"},
        BadSpec{"torus:64x65", "4160 nodes; expected 4 to 4096"},
        BadSpec{"torus:4096x4096x4096", "68719476736 nodes; expected 4 to 4096"},
        BadSpec{"hypercube:0", "0 dimensions; expected 1 to 12"},
        BadSpec{"hypercube:13", "13 dimensions; expected 1 to 12"},
        BadSpec{"random:2,2", "2 nodes; expected 3 to 4096"},
        BadSpec{"random:4097,2", "4097 nodes; expected 3 to 4096"},
        BadSpec{"random:8,1", "1 cables per node; expected 2 to 7"},
        BadSpec{"random:8,8", "8 cables per node; expected 2 to 7"},
        BadSpec{"random:5,3", "5 nodes with 3 cables each have 15 cable ends; expected an even number"},
        BadSpec{"random:4096,33", "67584 cables; expected 3 to 65536"},
        BadSpec{"dragonfly:1x4", "1 groups; expected 2 to 2048"},
        BadSpec{"dragonfly:2049x2", "2049 groups; expected 2 to 2048"},
        BadSpec{"dragonfly:4x1", "1 nodes per group; expected 2 to 2048"},
        BadSpec{"dragonfly:65x64", "4160 nodes; expected 4 to 4096"},
        BadSpec{"dragonfly:2048x2", "2098176 cables; expected 3 to 65536"}, BadSpec{"ring:4@", kEmptyRate.c_str()},
        BadSpec{"ring:4@5", kNoRate.c_str()},
        BadSpec{"ring:4@1G,", "\"\" is an extra value; expected at most one rate and one latency"},
        BadSpec{"ring:4@1G,2G", "\"2G\" is an extra value; expected at most one rate and one latency"},
        BadSpec{"ring:4@1us,2us", "\"2us\" is an extra value; expected at most one rate and one latency"},
        BadSpec{"ring:4@2s",
                "\"2s\" is not the latency of a cable; expected 0s to 1s in whole ns, such as 2us, 500ns or "
                "1ms"}));

TEST(TopologyGenerator, ErrorsStayShort) {
  const absl::StatusOr<Topology> topology = generate_topology(std::string(100'000, 'x') + ":" + std::string(9000, '1'));
  ASSERT_FALSE(topology.ok());
  EXPECT_LT(topology.status().message().size(), 500U);
  EXPECT_THAT(std::string(topology.status().message()), HasSubstr("..: unknown shape"));
}

}  // namespace
}  // namespace cableway::routing
