#include "routing/topology_io/topology_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "routing/shapes/topology_generator.h"
#include "routing/topology/topology_kind.h"
#include "tests/routing/sample_topologies.h"

namespace cableway::routing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Checks that every node is drawn, in printable ASCII within kDrawingColumns columns, without trailing spaces.
void expect_well_drawn(const Topology& topology) {
  const std::string drawing = draw_topology(topology);
  ASSERT_TRUE(!drawing.empty() && drawing.back() == '\n');
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(drawing, '\n'))) {
    EXPECT_LE(line.size(), kDrawingColumns) << drawing;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << drawing;
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << drawing;
  }
  for (const Node& node : topology.nodes()) EXPECT_THAT(drawing, HasSubstr(node.name.substr(0, 19)));
}

TopologyKind kind_of(std::size_t nodes, const Pairs& pairs) {
  return recognise_shape(sample_topology(nodes, pairs)).kind;
}

TEST(TopologyKind, IsRecognised) {
  EXPECT_EQ(kind_of(1, {}), TopologyKind::kSingleNode);
  EXPECT_EQ(kind_of(2, {{0, 1}}), TopologyKind::kLine);
  EXPECT_EQ(kind_of(2, {{0, 1}, {0, 1}}), TopologyKind::kLine);
  EXPECT_EQ(kind_of(5, line_pairs(5)), TopologyKind::kLine);
  EXPECT_EQ(kind_of(3, ring_pairs(3)), TopologyKind::kFullMesh);
  EXPECT_EQ(kind_of(6, mesh_pairs(6)), TopologyKind::kFullMesh);
  EXPECT_EQ(kind_of(4, ring_pairs(4)), TopologyKind::kRing);
  EXPECT_EQ(kind_of(64, ring_pairs(64)), TopologyKind::kRing);
  EXPECT_EQ(kind_of(4, star_pairs(3)), TopologyKind::kStar);
  EXPECT_EQ(kind_of(6, {{0, 1}, {0, 2}, {0, 3}, {3, 4}, {3, 5}}), TopologyKind::kTree);
  EXPECT_EQ(kind_of(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}}), TopologyKind::kPartial);
  EXPECT_EQ(kind_of(4, {{0, 1}, {2, 3}}), TopologyKind::kDisconnected);
  EXPECT_EQ(kind_of(6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}), TopologyKind::kDisconnected);
}

TEST(TopologyKind, ATorusIsRecognisedForAnyNodeNames) {
  std::mt19937 random(5);
  for (std::uint32_t rows = 3; rows <= 8; ++rows) {
    for (std::uint32_t columns = 3; std::size_t{rows} * columns <= kMaxTorusNodes; ++columns) {
      std::vector<std::uint32_t> dealt(std::size_t{rows} * columns);
      for (std::uint32_t i = 0; i < dealt.size(); ++i) dealt[i] = i;
      std::shuffle(dealt.begin(), dealt.end(), random);
      Pairs pairs = torus_pairs(rows, columns);
      for (auto& [a, b] : pairs) {
        a = dealt[a];
        b = dealt[b];
      }
      const Topology torus = sample_topology(dealt.size(), pairs);
      const TopologyShape shape = recognise_shape(torus);
      ASSERT_EQ(shape.kind, TopologyKind::kTorus) << rows << "x" << columns;
      ASSERT_EQ(shape.rows * shape.columns, dealt.size());
      for (std::size_t i = 0; i < dealt.size(); ++i) {
        const std::size_t row = i / shape.columns;
        const std::size_t below = (row + 1) % shape.rows * shape.columns + i % shape.columns;
        const std::size_t right = row * shape.columns + (i % shape.columns + 1) % shape.columns;
        EXPECT_FALSE(torus.cables_between(shape.order[i], shape.order[right]).empty());
        EXPECT_FALSE(torus.cables_between(shape.order[i], shape.order[below]).empty());
      }
    }
  }
}

TEST(TopologyKind, FourCablesPerNodeDoNotMakeATorus) {
  // Circulant graphs: node i joins i +- 1 and i +- 2, all around. None of these is a grid of rings.
  for (const std::uint32_t count : {8U, 12U, 16U, 30U, 64U}) {
    Pairs pairs = ring_pairs(count);
    for (std::uint32_t i = 0; i < count; ++i) pairs.emplace_back(i, (i + 2) % count);
    EXPECT_EQ(kind_of(count, pairs), TopologyKind::kPartial) << count;
  }
  // A twisted torus: regular except where the last row meets the first.
  Pairs twisted;
  for (std::uint32_t row = 0; row < 8; ++row) {
    for (std::uint32_t column = 0; column < 8; ++column) {
      twisted.emplace_back(row * 8 + column, row * 8 + (column + 1) % 8);
      twisted.emplace_back(row * 8 + column, row == 7 ? (column + 3) % 8 : (row + 1) * 8 + column);
    }
  }
  EXPECT_EQ(kind_of(64, twisted), TopologyKind::kPartial);
}

TEST(TopologyDrawing, FitsForAllSizesOfAllShapes) {
  for (std::uint32_t count = 1; count <= 70; ++count) {
    expect_well_drawn(sample_topology(count, line_pairs(count)));
    expect_well_drawn(sample_topology(count + 1, star_pairs(count)));
    if (count >= 3) expect_well_drawn(sample_topology(count, ring_pairs(count)));
    if (count <= 12) expect_well_drawn(sample_topology(count, mesh_pairs(count)));
    if (count >= 3 && count <= 8)
      expect_well_drawn(sample_topology(std::size_t{count} * count, torus_pairs(count, count)));
  }
  expect_well_drawn(sample_topology(64, {}));
  expect_well_drawn(sample_topology(64, mesh_pairs(64)));
}

TEST(TopologyDrawing, FitsWithLongNames) {
  for (const std::size_t length : {10U, 19U, 20U, 21U, 63U}) {
    for (const Pairs& pairs : {ring_pairs(4), ring_pairs(9), line_pairs(9), mesh_pairs(4), star_pairs(8),
                               torus_pairs(3, 3), Pairs{{0, 1}, {1, 2}, {2, 0}, {2, 3}}}) {
      std::uint32_t count = 0;
      std::vector<Cable> cables;
      for (const auto& [a, b] : pairs) {
        cables.push_back(sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
        cables.back().name = absl::StrCat(std::string(length, 'c'), cables.size());
        cables.back().rate_mbps += cables.size();
        count = std::max({count, a + 1, b + 1});
      }
      std::vector<Node> nodes;
      for (std::uint32_t i = 0; i < count; ++i) nodes.push_back({absl::StrCat(i, std::string(length - 2, 'x'))});
      expect_well_drawn(make_topology(nodes, cables));
    }
  }
}

TEST(TopologyDrawing, LongRingsAreRectanglesAndLongLinesTurn) {
  EXPECT_THAT(draw_topology(sample_topology(40, ring_pairs(40))), ::testing::Not(HasSubstr("n0:")));
  EXPECT_THAT(draw_topology(sample_topology(40, line_pairs(40))), ::testing::Not(HasSubstr("n0:")));
  EXPECT_EQ(draw_topology(sample_topology(5, ring_pairs(5))),
            "ring: 5 nodes, 5 cables of 10 Gbit/s\n"
            "\n"
            "  n0 --c0-- n1 --c1-- n2\n"
            "   |                   |\n"
            "   |                  c2\n"
            "   |                   |\n"
            "   +--c4--- n4 --c3-- n3\n");
}

TEST(TopologyDrawing, KeepsLabelsOfNeighbouringColumnsApart) {
  std::vector<Cable> cables;
  for (const auto& [a, b] : torus_pairs(3, 3)) {
    cables.push_back(sample_cable(static_cast<std::uint32_t>(cables.size()), a, b));
    const bool is_in_row = a / 3 == b / 3;
    cables.back().name = is_in_row ? absl::StrCat("n", a, "-n", b) : absl::StrCat("a-long-name-", cables.size());
  }
  const std::string drawing = draw_topology(make_topology(sample_nodes(9), cables));
  EXPECT_THAT(drawing, HasSubstr("(n0)"));  // it is drawn as a torus
  for (const Cable& cable : cables) {
    if (cable.name.front() == 'a') {
      EXPECT_THAT(drawing, ::testing::ContainsRegex("[ \n]" + cable.name + "[ \n]"));
    }
  }
}

TEST(TopologyDrawing, LeavesOutDefaultNamesAndShowsRatesThatDiffer) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2), sample_cable(2, 1, 2),
                               sample_cable(3, 2, 3)};
  cables[0].name = "n0-n1";
  cables[3].name = "n3-n2";
  EXPECT_EQ(draw_topology(make_topology(sample_nodes(4), cables)),
            "line: 4 nodes, 4 cables of 10 Gbit/s\n"
            "\n"
            "  n0 ---- n1 ==c1,c2== n2 ---- n3\n");
  cables[0].rate_mbps = 2500;
  cables[1].rate_mbps = 200;
  cables[0].latency_us = cables[1].latency_us = 1;
  cables[3].latency_us = 0.5;  // that of c2 is not known
  EXPECT_EQ(draw_topology(make_topology(sample_nodes(4), cables)),
            "line: 4 nodes, 4 cables of 200 Mbit/s to 10 Gbit/s, 0.5 to 1 us\n"
            "\n"
            "  n0 --2.5G-- n1 ==c1 200M,c2 10G== n2 --10G-- n3\n");
}

TEST(TopologyDrawing, IndentsTrees) {
  EXPECT_EQ(draw_topology(sample_topology(7, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {1, 5}, {3, 6}})),
            "tree: 7 nodes, 6 cables of 10 Gbit/s\n"
            "\n"
            "  n0\n"
            "  +--c0-- n1\n"
            "  |  +--c3-- n4\n"
            "  |  +--c4-- n5\n"
            "  +--c1-- n2\n"
            "  +--c2-- n3\n"
            "     +--c5-- n6\n");
}

TEST(TopologyDrawing, LeavesOutTheNamesOfDiscoveredCables) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 1, 2)};
  for (Cable& cable : cables) {
    cable.a.interface = "eth0";
    cable.b.interface = "eth1";
  }
  cables[0].name = "n0.eth0-n1.eth1";
  EXPECT_EQ(draw_topology(make_topology(sample_nodes(3), cables)),
            "line: 3 nodes, 2 cables of 10 Gbit/s\n"
            "\n"
            "  n0 ---- n1 --c1-- n2\n");
}

TEST(TopologyDrawing, NotesWhatCablesAloneDoNotShow) {
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2});
  for (std::uint32_t i = 3; i < 5; ++i) {
    cables.push_back(sample_cable(i, 2, 3));
    cables.back().a.plug = cables.back().b.plug = "p0";
  }
  std::vector<Node> nodes = sample_nodes(4);
  nodes[3].draining = true;
  EXPECT_EQ(draw_topology(make_topology(nodes, cables)),
            "partial mesh: 4 nodes, 1 switch, 5 cables of 10 Gbit/s\n"
            "\n"
            "  [switch]\n"
            "  +--sw0-- n0\n"
            "  +--sw0-- n1\n"
            "  +--sw0-- n2\n"
            "     +==c3,c4== n3\n"
            "\n"
            "  draining: n3 relays nothing\n"
            "  [switch] joins 3 ports of 10 Gbit/s, each with each: 3 cables\n"
            "  one wire: 2 cables between n2 and n3, together 10 Gbit/s\n");
}

TEST(TopologyDrawing, ASwitchIsOneThing) {
  EXPECT_EQ(draw_topology(*generate_topology("switch:5")),
            "full mesh: 5 nodes, 1 switch, 10 cables of 10 Gbit/s\n"
            "\n"
            "  [switch]\n"
            "  +--to-s0-- n0\n"
            "  +--to-s0-- n1\n"
            "  +--to-s0-- n2\n"
            "  +--to-s0-- n3\n"
            "  +--to-s0-- n4\n"
            "\n"
            "  [switch] joins 5 ports of 10 Gbit/s, each with each: 10 cables\n");
}

TEST(TopologyDrawing, EverySwitchIsOneThingWithThePortsOnIt) {
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2});
  for (Cable cable : switch_segment(3, {0, 1, 2})) {
    cable.a.interface = cable.b.interface = "eth1";
    cable.rate_mbps = 25000;
    cables.push_back(cable);
  }
  EXPECT_EQ(draw_topology(make_topology(sample_nodes(3), cables)),
            "full mesh: 3 nodes, 2 switches, 6 cables of 10 Gbit/s to 25 Gbit/s\n"
            "\n"
            "  n0: [switch] (sw0 10G), [switch-2] (eth1 25G)\n"
            "  n1: [switch] (sw0 10G), [switch-2] (eth1 25G)\n"
            "  n2: [switch] (sw0 10G), [switch-2] (eth1 25G)\n"
            "  [switch]: n0 (sw0 10G), n1 (sw0 10G), n2 (sw0 10G)\n"
            "  [switch-2]: n0 (eth1 25G), n1 (eth1 25G), n2 (eth1 25G)\n"
            "\n"
            "  [switch] joins 3 ports of 10 Gbit/s, each with each: 3 cables\n"
            "  [switch-2] joins 3 ports of 25 Gbit/s, each with each: 3 cables\n");
}

// A port that reaches only some of the others is no part of a switch that joins each with each.
TEST(TopologyDrawing, WhatDoesNotJoinEachWithEachIsDrawnAsCables) {
  std::vector<Cable> cables = switch_segment(0, {0, 1, 2, 3});
  cables.pop_back();
  EXPECT_EQ(draw_topology(make_topology(sample_nodes(4), cables)),
            "partial mesh: 4 nodes, 5 cables of 10 Gbit/s\n"
            "\n"
            "  n0: n1 (c0), n2 (c1), n3 (c2)\n"
            "  n1: n0 (c0), n2 (c3), n3 (c4)\n"
            "  n2: n0 (c1), n1 (c3)\n"
            "  n3: n0 (c2), n1 (c4)\n"
            "\n"
            "  shared: n0 sw0 has 3 cables, together 10 Gbit/s\n"
            "  shared: n1 sw0 has 3 cables, together 10 Gbit/s\n"
            "  shared: n2 sw0 has 2 cables, together 10 Gbit/s\n"
            "  shared: n3 sw0 has 2 cables, together 10 Gbit/s\n");
}

TEST(TopologyDrawing, NotesCablesThatLosePackets) {
  std::vector<Cable> cables = {sample_cable(0, 0, 1), sample_cable(1, 0, 1), sample_cable(2, 1, 2)};
  cables[0].loss_percent = 5;
  cables[2].loss_percent = 9;
  EXPECT_EQ(draw_topology(make_topology(sample_nodes(3), cables)),
            "line: 3 nodes, 2 cables of 10 Gbit/s\n"
            "\n"
            "  n0 --c1-- n1 --c2-- n2\n"
            "\n"
            "  lossy: no path leads over cable c0, which loses 5 % of packets\n"
            "  lossy: cable c2 loses 9 % of packets, and there is no better way\n");
}

TEST(TopologyDrawing, NotesSharedPcieLinks) {
  EXPECT_EQ(draw_topology(*generate_topology("sparks:2@1.5us")),
            "line: 2 nodes, 4 cables of 98.3 Gbit/s, 1.5 us\n"
            "\n"
            "  n0 ==c0,c1,c2,c3== n1\n"
            "\n"
            "  one wire: 2 cables between n0 and n1, together 196.6 Gbit/s\n"
            "  one wire: 2 cables between n0 and n1, together 196.6 Gbit/s\n"
            "  shared: n0 root r0 (PCIe) has 2 cables, together 98.3 Gbit/s\n"
            "  shared: n0 root r1 (PCIe) has 2 cables, together 98.3 Gbit/s\n"
            "  shared: n1 root r0 (PCIe) has 2 cables, together 98.3 Gbit/s\n"
            "  shared: n1 root r1 (PCIe) has 2 cables, together 98.3 Gbit/s\n");
}

TEST(TopologyDrawing, KeepsItsNotesShort) {
  std::vector<std::uint32_t> all(40);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<Node> nodes = sample_nodes(40);
  for (Node& node : nodes) {
    node.name += std::string(50, 'x');
    node.draining = true;
  }
  const Topology topology = make_topology(nodes, switch_segment(0, all));
  expect_well_drawn(topology);
  EXPECT_THAT(draw_topology(topology), HasSubstr("  and 17 more such notes\n"));
}

TEST(TopologyDrawing, ReportsThatItIsDisconnected) {
  EXPECT_EQ(draw_topology(sample_topology(3, {{0, 1}})),
            "disconnected in 2 parts: 3 nodes, 1 cable of 10 Gbit/s\n"
            "\n"
            "  n0: n1 (c0)\n"
            "  n1: n0 (c0)\n"
            "  n2: no cables\n");
  EXPECT_EQ(draw_topology(sample_topology(1, {})), "single node: 1 node, 0 cables\n\n  n0: no cables\n");
}

}  // namespace
}  // namespace cableway::routing
