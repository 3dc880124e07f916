// The map of a report where cables share hardware: switches and wires of several cables.
#include "tools/cableway/sim/cable_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "tests/tools/cableway/sim/part_count.h"
#include "tools/cableway/sim/map_lines.h"

namespace cableway::cli {
namespace {

using routing::CableIndex;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Every cable carries 10 % from its end a, and 20 % from its end b.
SimReport steady_report(const char* spec) {
  SimReport report{*routing::generate_topology(spec), spec, "all_to_all:64MiB", "chunk", "", {}, {}, {}, "", {}, 0};
  for (std::uint32_t i = 0; i < report.topology.cable_count(); ++i) {
    report.prediction.cables.push_back({CableIndex{i}, true, 1000, 0.1});
    report.prediction.cables.push_back({CableIndex{i}, false, 2000, 0.2});
  }
  for (std::uint32_t i = 0; i < report.topology.node_count(); ++i) report.request.ranks.push_back({i});
  return report;
}

SimReport with_cut(SimReport report, CableIndex cable) {
  sim::CutEffect effect;
  effect.cut = {cable, std::chrono::milliseconds(1)};
  effect.wire = {cable};
  effect.happened = true;
  report.prediction.cuts = {effect};
  return report;
}

void expect_parts(const DrawnMap& map, const std::vector<std::pair<std::string, std::size_t>>& parts) {
  for (const auto& [part, count] : parts) EXPECT_EQ(count_of(map.svg, part), count) << part;
}

// n1 is end b of the cable to n0, and end a of those to n2 and n3.
TEST(MapLines, APortOfASwitchCarriesTheSumOfItsCables) {
  const SimReport report = steady_report("switch:4");
  const routing::BoxedTopology boxed = boxed_topology(report);
  const std::vector<MapLine> lines = map_lines(report, boxed);
  ASSERT_EQ(lines.size(), 4U);
  std::size_t found = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const routing::Cable& drawn = boxed.drawn.cables()[i];
    if (boxed.ports.at(drawn.name).node != "n1") continue;
    ++found;
    const bool is_a = boxed.drawn.node(drawn.a.node).name == "n1";
    const MapLine::Direction& out = is_a ? lines[i].from_a : lines[i].from_b;
    const MapLine::Direction& in = is_a ? lines[i].from_b : lines[i].from_a;
    EXPECT_EQ(out.bytes, 2000U + 1000U + 1000U);
    EXPECT_NEAR(out.utilisation, 0.4, 1e-9);
    EXPECT_EQ(in.bytes, 1000U + 2000U + 2000U);
    EXPECT_NEAR(in.utilisation, 0.5, 1e-9);
    EXPECT_THAT(out.title, AllOf(HasSubstr("n1 "), HasSubstr(", out")));
    EXPECT_THAT(in.title, HasSubstr(", in"));
  }
  EXPECT_EQ(found, 1U);
}

TEST(CableMap, ASwitchIsABoxWithACableToEachPort) {
  const DrawnMap map = cable_map(steady_report("switch:4"));
  EXPECT_TRUE(map.has_switches);
  EXPECT_FALSE(map.has_bands);
  expect_parts(map, {{"class=\"lane\"", 8}, {"class=\"node switch\"", 1}, {"class=\"node\"", 4}});
  EXPECT_THAT(map.svg, AllOf(HasSubstr(">4 ports</text>"), HasSubstr(">rank 3</text>"), HasSubstr(">50 %</text>")));
}

TEST(CableMap, ASwitchOfWhichACableIsCutStaysCables) {
  const DrawnMap map = cable_map(with_cut(steady_report("switch:4"), CableIndex{2}));
  EXPECT_FALSE(map.has_switches);
  expect_parts(map, {{"class=\"lane\"", 12}, {"<g class=\"cut\">", 1}});
}

TEST(CableMap, CablesOfOneWireAreOnABand) {
  const DrawnMap map = cable_map(steady_report("twins:4"));
  EXPECT_TRUE(map.has_bands);
  EXPECT_FALSE(map.has_switches);
  expect_parts(map, {{"class=\"wire\"", 4}, {"class=\"lane\"", 16}, {"class=\"value\"", 4}});
  EXPECT_THAT(map.svg, AllOf(HasSubstr("one wire: 2 cables, together "), Not(HasSubstr(" ports</text>"))));
  EXPECT_LT(map.svg.rfind("class=\"wire\""), map.svg.find("class=\"lane\"")) << "below the cables";
}

}  // namespace
}  // namespace cableway::cli
