#include "tools/cableway/expectation/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "routing/shapes/topology_generator.h"
#include "tests/tools/cableway/expectation/wired.h"
#include "tools/cableway/expectation/difference_view.h"

namespace cableway::cli {
namespace {

using routing::Topology;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A ring of three hosts with single ports, each leaving by a and entering by b:
//
//     n0.a ---- b.n1.a ---- b.n2.a ---- b.n0
const std::vector<std::string> kRing = {"n0 a n1 b", "n1 a n2 b", "n2 a n0 b"};

// The same of DGX Sparks; x and X are the functions of plug p0, y and Y those of p1.
const std::vector<std::string> kSparks = {"n0 p0/x n1 p1/y", "n0 p0/X n1 p1/Y", "n1 p0/x n2 p1/y",
                                          "n1 p0/X n2 p1/Y", "n2 p0/x n0 p1/y", "n2 p0/X n0 p1/Y"};

// "kind: what; advice" of each difference.
std::vector<std::string> differences(const Topology& expected, const Topology& found) {
  std::vector<std::string> texts;
  for (const Difference& each : compare_topologies(expected, found).differences) {
    texts.push_back(absl::StrCat(std::string(name_of(each.kind)), ": ", each.what, "; ", each.advice));
  }
  return texts;
}

std::vector<std::string> without(std::vector<std::string> cables, std::size_t place) {
  cables.erase(cables.begin() + static_cast<std::ptrdiff_t>(place));
  return cables;
}

std::vector<std::string> with(std::vector<std::string> cables, const std::string& more) {
  cables.push_back(more);
  return cables;
}

TEST(Comparison, OfTheSameCablingFindsNothingWhateverTheOrderThePlugsAndTheAddresses) {
  EXPECT_THAT(differences(wired(kRing), wired({"n2 b n1 a", "n0 b n2 a", "n1 b n0 a"})), IsEmpty());
  EXPECT_THAT(differences(wired(kSparks), wired({"n1 1/y n0 0/x", "n1 1/Y n0 0/X", "n2 1/y n1 0/x", "n2 1/Y n1 0/X",
                                                 "n0 1/y n2 0/x", "n0 1/Y n2 0/X"})),
              IsEmpty());
  EXPECT_TRUE(compare_topologies(wired(kRing), wired(kRing)).by_interface);
}

TEST(Comparison, NamesAMissingCableAndAnExtraOne) {
  EXPECT_THAT(differences(wired(kRing), wired(without(kRing, 1))),
              ElementsAre("cable_missing: there is no cable from a of n1 to b of n2; plug it in at both ends; cableway "
                          "doctor on both hosts says what is wrong with the ports"));
  EXPECT_THAT(differences(wired(kRing), wired(with(kRing, "n0 c n2 c"))),
              ElementsAre("cable_extra: the cable from c of n0 to c of n2 is not expected; unplug it, or add it to the "
                          "expected topology"));
}

TEST(Comparison, ACableOfTwoFunctionsIsOneDifference) {
  const Topology expected = wired(kSparks);
  const Comparison comparison = compare_topologies(expected, wired(without(without(kSparks, 3), 2)));
  ASSERT_EQ(comparison.differences.size(), 1U);
  EXPECT_EQ(comparison.differences[0].what, "there is no cable from plug p0 of n1 (x, X) to plug p1 of n2 (y, Y)");
  EXPECT_THAT(comparison.differences[0].expected_cables, ElementsAre("c2", "c3"));
  EXPECT_THAT(comparison.differences[0].nodes, ElementsAre("n1", "n2"));
}

// At n1 the cables are exchanged:   n0.p0 -- n1.p0, n1.p1 -- n2.p1
TEST(Comparison, OneSwapAtOneHostMendsTwoCables) {
  const std::vector<std::string> found = {"n0 x n1 x", "n0 X n1 X", "n1 y n2 y", "n1 Y n2 Y", "n2 x n0 y", "n2 X n0 Y"};
  EXPECT_THAT(
      differences(wired(kSparks), wired(found)),
      ElementsAre("cables_swapped: two cables are exchanged: found plug p0 of n0 to plug p0 of n1 and plug p1 of "
                  "n1 to plug p1 of n2; expected plug p0 of n0 to plug p1 of n1 and plug p0 of n1 to plug p1 "
                  "of n2; swap these two at n1: plug p0 (x, X) and plug p1 (y, Y)"));
  EXPECT_THAT(differences(wired(kRing), wired({"n0 a n1 a", "n1 b n2 b", "n2 a n0 b"})),
              ElementsAre(HasSubstr("; swap these two at n1: a and b")));
}

// A ring of four in which the ends at n1.b and n3.b are exchanged:   n0.a -- n3.b, n2.a -- n1.b
TEST(Comparison, ASwapMayBeBetweenHosts) {
  const Topology ring = wired({"n0 a n1 b", "n1 a n2 b", "n2 a n3 b", "n3 a n0 b"});
  EXPECT_THAT(differences(ring, wired({"n0 a n3 b", "n1 a n2 b", "n2 a n1 b", "n3 a n0 b"})),
              ElementsAre(HasSubstr("; swap these two: the cable in a of n0 and the one in a of n2")));
}

TEST(Comparison, NamesThePlugThatACableBelongsIn) {
  EXPECT_THAT(
      differences(wired(kRing), wired({"n0 a n1 b", "n1 a n2 c", "n2 a n0 b"})),
      ElementsAre("cable_elsewhere: the cable in a of n1 goes to b of n2, but is in c of n2; move its end from c of "
                  "n2 to b of n2"));
  // Both ends.
  EXPECT_THAT(
      differences(wired(kRing), wired({"n0 a n1 b", "n1 c n2 c", "n2 a n0 b"})),
      ElementsAre("cable_elsewhere: the cable from a of n1 to b of n2 is in other plugs: c of n1 to c of n2; move "
                  "both of its ends"));
}

// Three cables, each one plug further: no single swap.
TEST(Comparison, ARotationIsListedCableByCable) {
  const Topology expected = wired({"n0 a n3 a", "n1 a n3 b", "n2 a n3 c"});
  EXPECT_THAT(differences(expected, wired({"n0 a n3 b", "n1 a n3 c", "n2 a n3 a"})),
              ElementsAre(HasSubstr("cable_elsewhere"), HasSubstr("cable_elsewhere"), HasSubstr("cable_elsewhere")));
}

TEST(Comparison, TheCablesOfAMissingNodeAreNotListed) {
  EXPECT_THAT(
      differences(wired(kRing), wired({"n0 a n1 b"})),
      ElementsAre("node_missing: node n2, with 2 cables, is not there; start cablewayd there, or check its name, its "
                  "cluster and its cables"));
  EXPECT_THAT(
      differences(wired(kRing), wired({"n0 a n1 b"}, {"n2"})),
      ElementsAre("node_missing: none of the 2 cables of node n2 is up; check that the host is on and cablewayd runs "
                  "there; then its cables"));
  // All that a node without a cable knows is itself.
  EXPECT_THAT(differences(wired({"n0 a n1 b"}), wired({}, {"n0", "n1"})), ElementsAre(HasSubstr("cable_missing")));
}

TEST(Comparison, NamesAnUnexpectedNodeAndOneOfAnotherName) {
  EXPECT_THAT(differences(wired(kRing), wired(with(kRing, "n0 c m a"))),
              ElementsAre("node_extra: node m is not expected; it is joined to n0; add it to the expected topology, or "
                          "disconnect it"));
  EXPECT_THAT(
      differences(wired(kRing), wired({"n0 a m q", "m r n2 b", "n2 a n0 b"})),
      ElementsAre("node_named: node m has the cables of node n1, which is missing; set CABLEWAY_NODE=n1 there, or "
                  "change the name in the expected topology"));
}

TEST(Comparison, NamesFunctionsThatAreNotJoinedAsExpected) {
  EXPECT_THAT(differences(wired(kSparks), wired(without(kSparks, 1))),
              ElementsAre(HasSubstr("functions_differ: the cable is in the right plugs, but joins the interfaces x - y "
                                    "instead of X - Y, x - y; check that these interfaces of n0 and n1 are up")));
  std::vector<std::string> crossed = kSparks;
  crossed[0] = "n0 p0/x n1 p1/Y";
  crossed[1] = "n0 p0/X n1 p1/y";
  EXPECT_THAT(differences(wired(kSparks), wired(crossed)), ElementsAre(HasSubstr("functions_differ")));
}

TEST(Comparison, CountsCablesWhereInterfacesAreNotKnown) {
  const Topology ring = *routing::generate_topology("ring:3");
  const Comparison same = compare_topologies(ring, wired(kSparks));
  EXPECT_FALSE(same.by_interface);
  EXPECT_THAT(same.differences, IsEmpty());
  EXPECT_THAT(differences(ring, wired(without(kRing, 2))),
              ElementsAre(HasSubstr("cable_missing: there are 0 cables between n0 and n2; expected 1")));
  EXPECT_THAT(differences(wired({"n0 - n1 -"}), wired({"n0 a n1 a", "n0 b n1 b"})),
              ElementsAre(HasSubstr("cable_extra: there are 2 cables between n0 and n1; expected 1")));
}

// n0, n1 and n2 on a switch, where cables are expected: no swaps are invented.
TEST(Comparison, ASwitchIsAllOfItsPairs) {
  const Topology found = routing::make_topology(routing::sample_nodes(3), routing::switch_segment(0, {0, 1, 2}));
  EXPECT_THAT(differences(found, found), IsEmpty());
  const std::string port = found.cables()[0].a.interface;
  const Topology expected = wired({absl::StrCat("n0 ", port, " n1 ", port)}, {"n2"});
  EXPECT_THAT(differences(expected, found), ElementsAre(HasSubstr("cable_extra"), HasSubstr("cable_extra")));
}

TEST(Comparison, AsTextAndJson) {
  const Comparison comparison = compare_topologies(wired(kRing), wired(without(kRing, 0)));
  EXPECT_EQ(
      differences_text("a\nb.toml", comparison),
      "expected (a\\nb.toml): 1 difference\n"
      "  missing       there is no cable from a of n0 to b of n1\n"
      "                plug it in at both ends; cableway doctor on both hosts says what is wrong with the ports\n");
  EXPECT_EQ(differences_json("e.toml", comparison), Json::parse(R"({"file": "e.toml", "by": "interface",
    "differences": [{"kind": "cable_missing", "about": "cable n0 - n1",
      "what": "there is no cable from a of n0 to b of n1",
      "advice": "plug it in at both ends; cableway doctor on both hosts says what is wrong with the ports",
      "nodes": ["n0", "n1"], "found_cables": [], "expected_cables": ["c0"]}]})"));
  EXPECT_EQ(differences_text("e", compare_topologies(wired(kRing), wired(kRing))), "expected (e): no difference\n");
}

}  // namespace
}  // namespace cableway::cli
