// What doctor finds where several nodes have one name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/cableway/doctor/doctor.h"

namespace cableway::cli {
namespace {

using ::testing::SizeIs;

std::vector<Finding> found_of(const char* problems) {
  Examined examined;
  examined.status = Json::parse(R"({"node": "n1", "cluster": "c", "draining": false, "draining_cables": [],
                                    "relayed": {"circuits_broken": 0, "setups_refused": 0}})");
  (*examined.status)["problems"] = Json::parse(problems);
  std::vector<Finding> found;
  for (const Finding& each : examine(examined)) {
    if (each.about == "problem") found.push_back(each);
  }
  return found;
}

TEST(DoctorNames, BothOfTwoNodesWithOneNameHaveOneFinding) {
  const std::vector<Finding> found =
      found_of(R"([{"code": "NAME_TAKEN", "interface": "", "text": "another node is called n1", "seconds": 5},
                   {"code": "NAME_DEFENDED", "interface": "eth1", "text": "defended", "seconds": 5}])");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, "NAME_TAKEN");
}

TEST(DoctorNames, OneNameOnSeveralPortsIsOneFinding) {
  const std::vector<Finding> found = found_of(
      R"([{"code": "NAME_TAKEN", "interface": "eth1", "neighbour": "x", "text": "two are called x", "seconds": 5},
          {"code": "NAME_TAKEN", "interface": "eth2", "neighbour": "y", "text": "two are called y", "seconds": 5},
          {"code": "NAME_TAKEN", "interface": "eth3", "neighbour": "x", "text": "two are called x", "seconds": 5}])");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].what, "two are called x (for 5.0 s); a further one on port eth3");
  EXPECT_EQ(found[1].what, "two are called y (for 5.0 s)");
}

// Which name the node itself has lost is one, and that of a neighbour another.
TEST(DoctorNames, TheNameOfThisNodeIsNotThatOfANeighbour) {
  EXPECT_THAT(found_of(R"([{"code": "NAME_TAKEN", "interface": "eth1", "text": "another is called n1", "seconds": 5},
                   {"code": "NAME_TAKEN", "interface": "eth2", "neighbour": "x", "text": "called x", "seconds": 5}])"),
              SizeIs(2));
}

}  // namespace
}  // namespace cableway::cli
