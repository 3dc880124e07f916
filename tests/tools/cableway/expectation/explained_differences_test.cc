#include "tools/cableway/expectation/explained_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/cableway/expectation/wired.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// n0 ---- n1 ---- n2 ---- n3, and back to n0
const std::vector<std::string> kRingOfFour = {"n0 a n1 b", "n1 a n2 b", "n2 a n3 b", "n3 a n0 b"};

// What is left of the differences, "kind about", at a node of the ring.
std::vector<std::string> differences_left(const routing::Topology& found, const OwnFaults& faults) {
  const routing::Topology expected = wired(kRingOfFour);
  std::vector<std::string> texts;
  for (const Difference& each : without_explained(compare_topologies(expected, found), expected, faults).differences) {
    texts.push_back(absl::StrCat(std::string(name_of(each.kind)), " ", each.about));
  }
  return texts;
}

TEST(ExplainedDifferences, TheCableOfAFaultyPort) {
  const routing::Topology found = wired({"n1 a n2 b", "n2 a n3 b", "n3 a n0 b"});
  EXPECT_THAT(differences_left(found, {"n0", {"a"}, {"n1"}}), IsEmpty());
  EXPECT_THAT(differences_left(found, {"n1", {"b"}, {}}), IsEmpty()) << "whoever was at the other end";
  EXPECT_THAT(differences_left(found, {"n0", {"b"}, {}}), ElementsAre("cable_missing cable n0 - n1")) << "another port";
  EXPECT_THAT(differences_left(found, {"n2", {}, {}}), ElementsAre("cable_missing cable n0 - n1"));
  EXPECT_THAT(differences_left(found, {"", {}, {}}), ElementsAre("cable_missing cable n0 - n1")) << "no node answers";
}

TEST(ExplainedDifferences, ANodeBeyondAFaultyPort) {
  const routing::Topology found = wired({"n0 a n1 b", "n3 a n0 b"});
  EXPECT_THAT(differences_left(found, {"n1", {"a"}, {"n2"}}), IsEmpty());
  EXPECT_THAT(differences_left(found, {"n1", {"a"}, {}}), ElementsAre("node_missing node n2"))
      << "its other cable is missing, too";
  EXPECT_THAT(differences_left(found, {"n0", {}, {}}), ElementsAre("node_missing node n2")) << "which is no neighbour";
}

TEST(ExplainedDifferences, NodesWhoseWaysAllBeginAtFaultyPorts) {
  const routing::Topology alone = wired({}, {"n2"});
  EXPECT_THAT(differences_left(alone, {"n2", {"a", "b"}, {}}), IsEmpty());
  EXPECT_THAT(differences_left(alone, {"n2", {"a"}, {}}), UnorderedElementsAre("node_missing node n1"))
      << "n0 and n3 are beyond n1, which is missing";
}

TEST(ExplainedDifferences, OtherDifferencesAreLeft) {
  const routing::Topology swapped = wired({"n0 a n1 a", "n1 b n2 b", "n2 a n3 b", "n3 a n0 b"});
  EXPECT_THAT(differences_left(swapped, {"n1", {"a", "b"}, {"n0", "n2"}}),
              ElementsAre("cables_swapped cables of n0, n1, n2"));
}

TEST(ExplainedDifferences, PortsOfSwappedCables) {
  const routing::Topology swapped = wired({"n0 a n1 a", "n1 b n2 b", "n2 a n3 b", "n3 a n0 b"});
  const Comparison comparison = compare_topologies(wired(kRingOfFour), swapped);
  EXPECT_THAT(miswired_ports(comparison, swapped, "n1"), ElementsAre("a", "b"));
  EXPECT_THAT(miswired_ports(comparison, swapped, "n0"), ElementsAre("a"));
  EXPECT_THAT(miswired_ports(comparison, swapped, "n3"), IsEmpty());
  EXPECT_THAT(miswired_ports(comparison, swapped, ""), IsEmpty());
}

}  // namespace
}  // namespace cableway::cli
