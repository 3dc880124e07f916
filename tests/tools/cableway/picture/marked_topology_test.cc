#include "tools/cableway/picture/marked_topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tools/cableway/expectation/wired.h"
#include "tools/cableway/picture/topology_dot.h"
#include "tools/cableway/picture/topology_svg.h"

namespace cableway::cli {
namespace {

using routing::Topology;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

//     n0.a ---- b.n1.a ---- b.n2.a ---- b.n0
Topology expected_ring() {
  return wired({"n0 a n1 b", "n1 a n2 b", "n2 a n0 b"});
}

MarkedTopology marked(const Topology& found) {
  const ExpectedTopology expected{"some/folder/ring.toml", expected_ring()};
  return mark_topology(found, std::nullopt, expected, compare_topologies(expected.topology, found));
}

TEST(MarkedTopology, DrawsWhatIsMissing) {
  const MarkedTopology cable = marked(wired({"n0 a n1 b", "n1 a n2 b"}));
  EXPECT_EQ(cable.drawn.cable_count(), 3U);
  EXPECT_EQ(cable.marks.remark, "1 difference from ring.toml");
  const std::string svg = topology_svg(cable.drawn, cable.marks);
  EXPECT_THAT(svg, AllOf(HasSubstr("3 nodes, 2 cables"), HasSubstr("class=\"cable missing\""),
                         HasSubstr(">missing</text>"), HasSubstr("<title>n0 - n2: missing</title>"),
                         HasSubstr(">1 difference from ring.toml</text>"), HasSubstr("red, dashed: missing")));

  const MarkedTopology node = marked(wired({"n0 a n1 b"}));
  EXPECT_EQ(node.drawn.node_count(), 3U);
  EXPECT_THAT(topology_svg(node.drawn, node.marks),
              AllOf(HasSubstr("2 nodes, 1 cable"), HasSubstr("node unreached"), HasSubstr(">missing</text>")));
}

TEST(MarkedTopology, MarksWhatIsNotExpected) {
  const MarkedTopology extra = marked(wired({"n0 a n1 b", "n1 a n2 b", "n2 a n0 b", "n0 c m a"}));
  EXPECT_EQ(extra.drawn.cable_count(), 4U);
  EXPECT_THAT(topology_svg(extra.drawn, extra.marks),
              AllOf(HasSubstr("cable wrong"), HasSubstr(">not expected</text>"), HasSubstr("class=\"node extra\"")));

  // Between the right nodes: only marked.
  const MarkedTopology swapped = marked(wired({"n0 a n1 a", "n1 b n2 b", "n2 a n0 b"}));
  EXPECT_EQ(swapped.drawn.cable_count(), 3U);
  EXPECT_THAT(topology_svg(swapped.drawn, swapped.marks),
              AllOf(HasSubstr(">swapped</text>"), Not(HasSubstr(">missing</text>"))));
}

TEST(MarkedTopology, NothingIsMarkedWhereAllIsAsExpected) {
  const MarkedTopology same = marked(expected_ring());
  EXPECT_EQ(same.drawn, expected_ring());
  EXPECT_TRUE(same.marks.cables.empty());
  EXPECT_THAT(topology_svg(same.drawn, same.marks), HasSubstr(">no difference from ring.toml</text>"));
}

TEST(MarkedTopology, TheGraphMarksWhatIsMissing) {
  const Topology found = wired({"n0 a n1 b", "n0 b m a"});
  const MarkedTopology result = marked(found);
  const std::string dot = topology_dot(result.drawn, result.marks);
  EXPECT_THAT(dot, AllOf(HasSubstr("only_expected=true"), HasSubstr("style=dashed, color=red"),
                         HasSubstr("color=purple"), HasSubstr("label=\"2 differences from ring.toml\"")));
}

}  // namespace
}  // namespace cableway::cli
