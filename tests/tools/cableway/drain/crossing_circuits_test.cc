#include "tools/cableway/drain/crossing_circuits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "routing/topology/cable_name.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of node n1: three flows of its own, the last one with two circuits, and two circuits that it relays.
constexpr char kCircuitsStatus[] = R"({
  "own": {"flows_open": 3}, "relayed": {"circuits_open": 2},
  "flows": [
    {"path": "n1 -> n2", "port": "eth1", "waits": null, "circuits": []},
    {"path": "n0 -> n1", "port": "eth0", "waits": null, "circuits": [{"path": "n0 -> n1", "port": "eth0"}]},
    {"path": "n1 -> n0 -> n2", "port": "eth0", "waits": null,
     "circuits": [{"path": "n1 -> n0 -> n2", "port": "eth0"}, {"path": "n1 -> n2", "port": "eth1"}]},
    {"path": "n1 -> n1", "port": null, "waits": null, "circuits": [{"path": "n1 -> n1", "port": null}]}],
  "circuits": [{"path": "n0 -c0-> n1 -c1-> n2"}, {"path": "n2 -c1-> n1 -c9-> n3"}]})";

DrainTarget cable(const std::string& name, const std::string& interface, const std::string& neighbour) {
  return {.node = "n1", .cable = name, .interface = interface, .neighbour = neighbour};
}

TEST(CrossingCircuits, OfANodeAreThoseThatItRelays) {
  const CrossingCircuits crossing = crossing_circuits(Json::parse(kCircuitsStatus), DrainTarget{.node = "n1"});
  EXPECT_EQ(crossing.circuits, 2U);
  EXPECT_EQ(crossing.not_listed, 0U);
  EXPECT_THAT(crossing.paths, ElementsAre("n0 -c0-> n1 -c1-> n2", "n2 -c1-> n1 -c9-> n3"));
  EXPECT_EQ(describe(crossing), "2 circuits");
  EXPECT_FALSE(crossing.none());
}

TEST(CrossingCircuits, OfACableAreThoseOfFlowsHereToo) {
  EXPECT_THAT(crossing_circuits(Json::parse(kCircuitsStatus), cable("c1", "eth1", "n2")).paths,
              ElementsAre("n0 -c0-> n1 -c1-> n2", "n2 -c1-> n1 -c9-> n3", "n1 -> n2", "n1 -> n2"));
  EXPECT_THAT(crossing_circuits(Json::parse(kCircuitsStatus), cable("c0", "eth0", "n0")).paths,
              ElementsAre("n0 -c0-> n1 -c1-> n2", "n0 -> n1", "n1 -> n0 -> n2"));
}

TEST(CrossingCircuits, OfOneOfSeveralCablesAtAPortHaveItsNeighbour) {
  EXPECT_THAT(crossing_circuits(Json::parse(kCircuitsStatus), cable("c7", "eth0", "n4")).paths, IsEmpty());
  EXPECT_TRUE(crossing_circuits(Json::parse(kCircuitsStatus), cable("c7", "eth0", "n4")).none());
}

TEST(CrossingCircuits, AreNotNoneWhileSomeAreNotListed) {
  Json status = Json::parse(kCircuitsStatus);
  status["own"]["flows_open"] = 9;
  status["relayed"]["circuits_open"] = 3;
  const CrossingCircuits crossing = crossing_circuits(status, cable("c7", "eth9", "n4"));
  EXPECT_EQ(crossing.not_listed, 6U);
  EXPECT_EQ(describe(crossing), "0 circuits, and 6 that are not listed");
  EXPECT_FALSE(crossing.none());
  EXPECT_EQ(crossing_circuits(status, DrainTarget{.node = "n1"}).not_listed, 1U);
}

TEST(CrossingCircuits, MayHaveThisNeighbourWhereAPathLeavesNodesOut) {
  Json status = Json::parse(kCircuitsStatus);
  status["flows"][0]["path"] = "n5 -> (120 nodes) -> n1";
  EXPECT_EQ(crossing_circuits(status, cable("c8", "eth1", "n2")).circuits, 2U);
}

TEST(CrossingCircuits, AreThoseOfPortsWhoseNamesHaveAnyCharacters) {
  const std::string name = routing::discovered_cable_name("n1", "eth+1", "n2", "eth0");
  Json status = Json::parse(kCircuitsStatus);
  status["flows"][0]["port"] = routing::interfaces_in_name(name, "n1", "n2")->node;
  EXPECT_EQ(crossing_circuits(status, cable(name, "eth+1", "n2")).circuits, 1U);
}

TEST(CrossingCircuits, HaveNoneOfAFlowThatWaitsForOne) {
  Json status = Json::parse(kCircuitsStatus);
  status["flows"][0]["waits"] = "node n1 port eth1: carrier lost";
  EXPECT_EQ(crossing_circuits(status, cable("c1", "eth1", "n2")).circuits, 3U);
}

}  // namespace
}  // namespace cableway::cli
