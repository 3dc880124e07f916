// What doctor finds about the neighbours of a port.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/tools/cableway/doctor/wire_port.h"
#include "tools/cableway/doctor/doctor_ports.h"

namespace cableway::cli {
namespace {

Json port_with(const Json& neighbours, const Json& control = nullptr) {
  return wire_port("eth1", neighbours, control);
}

Json neighbour(const std::string& state, const Json& large_lost, const Json& hears_us = nullptr) {
  return wire_neighbour("n0", "eth0", state, hears_us, large_lost);
}

std::vector<Finding> findings_of(const Json& port, const Json& problems) {
  return examine_ports(Json::array({port}), Settings(), {}, KnownCauses(problems, "n1"));
}

std::vector<std::string> codes_of(const Json& port, const Json& problems = Json::array()) {
  std::vector<std::string> codes;
  for (const Finding& finding : findings_of(port, problems)) {
    if (finding.code != "RDMA_DEVICE_NONE") codes.push_back(finding.code);
  }
  return codes;
}

std::vector<std::string> codes(const std::string& state, const Json& large_lost) {
  return codes_of(port_with(Json::array({neighbour(state, large_lost)})));
}

Json problem(const std::string& code, const std::string& interface, const Json& about = nullptr) {
  return Json::array({{{"code", code},
                       {"interface", interface},
                       {"neighbour", about},
                       {"cable", nullptr},
                       {"text", "node n0 and node n7"},
                       {"seconds", 1}}});
}

TEST(DoctorNeighbours, OneThatIsHeardOnlyIsOneWay) {
  EXPECT_THAT(codes("up", nullptr), testing::ElementsAre("CABLE_UP"));
  EXPECT_THAT(codes("heard", nullptr), testing::ElementsAre("CABLE_ONE_WAY"));
  EXPECT_THAT(codes("unpaired", nullptr), testing::ElementsAre("PORT_UNPAIRED"));
}

// The node reports that as a problem of its own.
TEST(DoctorNeighbours, OneThatDropsLargePacketsIsNotOneWay) {
  for (const char* direction : {"from", "to", "both"}) EXPECT_THAT(codes("heard", direction), testing::IsEmpty());
}

TEST(DoctorNeighbours, OneThatHearsThisNodeDoesNotUseTheCable) {
  const Json hearing = Json::array({neighbour("heard", nullptr, true)});
  EXPECT_THAT(codes_of(port_with(hearing)), testing::ElementsAre("CABLE_UNUSED_THERE"));
  EXPECT_THAT(codes_of(port_with(hearing), problem("NAME_TAKEN", "eth2", "n1")), testing::IsEmpty())
      << "of this node's name: the neighbour may use its cable to the other one";
  EXPECT_THAT(codes_of(port_with(hearing), problem("NAME_TAKEN", "eth2", "n7")), testing::SizeIs(1))
      << "of another node's name";
  const Json deaf = Json::array({neighbour("heard", nullptr, false)});
  EXPECT_THAT(codes_of(port_with(deaf)), testing::ElementsAre("CABLE_ONE_WAY"));
}

TEST(DoctorNeighbours, WhatFollowsFromAProblemIsLeftOut) {
  const Json silent = port_with(Json::array());
  EXPECT_THAT(codes_of(silent), testing::ElementsAre("NEIGHBOUR_MISSING"));
  for (const char* code : {"KEY_DIFFERS", "CLUSTER_DIFFERS", "VERSION_DIFFERS", "NAME_TAKEN", "CABLE_TO_SELF"}) {
    EXPECT_THAT(codes_of(silent, problem(code, "eth1")), testing::IsEmpty()) << code;
    EXPECT_THAT(codes_of(silent, problem(code, "eth2")), testing::SizeIs(1)) << code;
  }
  EXPECT_THAT(codes_of(silent, problem("HOLD_TOO_LONG", "eth1")), testing::SizeIs(1));
  const Json heard = port_with(Json::array({neighbour("heard", nullptr, false)}));
  EXPECT_THAT(codes_of(heard, problem("CABLE_REFUSED", "eth1", "n0")), testing::IsEmpty());
  EXPECT_THAT(codes_of(heard, problem("CABLE_REFUSED", "eth1", "n7")), testing::ElementsAre("CABLE_ONE_WAY"));
  EXPECT_THAT(codes_of(heard, problem("CABLE_REFUSED", "eth1")), testing::ElementsAre("CABLE_ONE_WAY"))
      << "words decide nothing";
}

// One that lives sends what does not arrive; one that has left does not run.
TEST(DoctorNeighbours, ALostOneThatLivesIsNamed) {
  const auto event = [](const char* code) {
    return Json{{"code", code}, {"fields", {{"port", "eth1"}, {"neighbour", "n0"}, {"neighbour_port", "eth0"}}}};
  };
  const auto what = [&](const Json& events, const std::string& reached) {
    KnownCauses causes;
    causes.add_losses(events);
    causes.add_reached(reached);
    return examine_ports(Json::array({port_with(Json::array())}), Settings(), {}, causes).front().what;
  };
  const Json lost = Json::array({event("CABLE_UP"), event("CABLE_LOST")});
  EXPECT_THAT(what(lost, "n0"), testing::HasSubstr("nothing is heard of node n0 (eth0) any more, which is running"));
  EXPECT_THAT(what(lost, "n5"), testing::HasSubstr("no neighbour answers hellos"));
  const Json back = Json::array({event("CABLE_UP"), event("CABLE_LOST"), event("CABLE_UP")});
  EXPECT_THAT(what(back, "n0"), testing::HasSubstr("no neighbour answers hellos"));
  const Json left = Json::array({event("CABLE_UP"), event("NEIGHBOUR_LEFT")});
  EXPECT_THAT(what(left, "n5"), testing::HasSubstr("node n0 (eth0) has left: it was stopped"));
}

// A spare port of a wire hears ports that hear it.
TEST(DoctorNeighbours, AnUnpairedPortThatOneDoesNotHearIsOneWay) {
  const auto wire = [](const Json& hears_us) {
    return port_with(Json::array({wire_neighbour("n0", "eth8", "unpaired", true, nullptr),
                                  wire_neighbour("n0", "eth0", "unpaired", hears_us, nullptr)}));
  };
  EXPECT_THAT(codes_of(wire(true)), testing::ElementsAre("PORT_UNPAIRED"));
  EXPECT_THAT(codes_of(wire(nullptr)), testing::ElementsAre("PORT_UNPAIRED"));
  EXPECT_THAT(codes_of(wire(false)), testing::ElementsAre("CABLE_ONE_WAY"));
  const std::vector<Finding> found = findings_of(wire(false), Json::array());
  const auto one_way =
      std::find_if(found.begin(), found.end(), [](const Finding& each) { return each.code == "CABLE_ONE_WAY"; });
  ASSERT_NE(one_way, found.end());
  EXPECT_EQ(one_way->neighbour, "n0");
  EXPECT_EQ(one_way->neighbour_port, "eth0");
}

// They are counted since the node's start.
TEST(DoctorNeighbours, DatagramsUnsentAreAWarningOnlyWhileNoCableIsUp) {
  const Json control = {{"send_errors", {{"EADDRNOTAVAIL", 1}}},
                        {"last_error", "cannot send"},
                        {"not_open", Json::array()},
                        {"ttl_refused", 0},
                        {"oversized", 0}};
  const auto severity = [&](const char* state, const Json& problems) {
    for (const Finding& each : findings_of(port_with(Json::array({neighbour(state, nullptr)}), control), problems)) {
      if (each.code == "DATAGRAMS_UNSENT") return each.severity;
    }
    return Severity::kOk;
  };
  EXPECT_EQ(severity("heard", Json::array()), Severity::kWarning);
  EXPECT_EQ(severity("up", Json::array()), Severity::kInfo);
  EXPECT_EQ(severity("heard", problem("CABLE_REFUSED", "eth1", "n0")), Severity::kOk);
}

}  // namespace
}  // namespace cableway::cli
