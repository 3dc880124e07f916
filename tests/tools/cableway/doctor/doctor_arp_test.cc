#include "tools/cableway/doctor/doctor_arp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json port(const std::string& interface, const std::string& plug, const std::vector<std::string>& addresses,
          const std::string& transport = "rdma") {
  return {{"interface", interface},
          {"plug", plug.empty() ? Json(nullptr) : Json(plug)},
          {"addresses", addresses},
          {"transport", transport},
          {"neighbours", Json::array()}};
}

Json twins(const std::string& transport = "rdma") {
  return Json::array({port("enp1s0f0np0", "p0", {"10.7.0.1/24"}, transport),
                      port("enP2p1s0f0np0", "p0", {"fe80::2%enP2p1s0f0np0/64", "10.7.1.1/24"}, transport)});
}

std::map<std::string, int> arp_ignore(int first, int second) {
  return {{"enp1s0f0np0", first}, {"enP2p1s0f0np0", second}};
}

std::vector<Finding> arp_findings(const Json& ports, const std::map<std::string, int>& arp_ignore,
                                  const std::string& namesakes_on = "") {
  return examine_arp(ports, arp_ignore, [&](const std::string& interface) { return interface == namesakes_on; });
}

TEST(DoctorArp, TwinsThatAnswerForEachOtherAreOneFinding) {
  EXPECT_THAT(
      arp_findings(twins(), arp_ignore(0, 0)),
      ElementsAre(
          AllOf(Field(&Finding::severity, Severity::kWarning), Field(&Finding::code, "ARP_ANSWERED_FOR_TWIN"),
                Field(&Finding::about, "ports enp1s0f0np0, enP2p1s0f0np0"),
                Field(&Finding::what, HasSubstr("arp_ignore is 0 on enp1s0f0np0, 0 on enP2p1s0f0np0: one may answer")),
                Field(&Finding::advice,
                      "sysctl -w net.ipv4.conf.enp1s0f0np0.arp_ignore=1 net.ipv4.conf.enp1s0f0np0.arp_announce=2 "
                      "net.ipv4.conf.enP2p1s0f0np0.arp_ignore=1 net.ipv4.conf.enP2p1s0f0np0.arp_announce=2\n"
                      "and, to make it last, the same settings, each in a line, in /etc/sysctl.d/90-cableway.conf"))));
}

TEST(DoctorArp, NamesOnlyTheOneThatAnswers) {
  const std::vector<Finding> findings = arp_findings(twins(), arp_ignore(1, 0));
  EXPECT_THAT(findings, ElementsAre(Field(&Finding::what, HasSubstr("arp_ignore is 0 on enP2p1s0f0np0:"))));
  EXPECT_THAT(findings.front().advice, ::testing::Not(HasSubstr("enp1s0f0np0")));
}

TEST(DoctorArp, OverTcpItIsWorthKnowing) {
  EXPECT_THAT(arp_findings(twins("tcp"), arp_ignore(0, 0)),
              ElementsAre(AllOf(Field(&Finding::severity, Severity::kWarning),
                                Field(&Finding::what, HasSubstr("all data may then arrive through one")))));
}

TEST(DoctorArp, TheKernelsOtherValues) {
  for (const int safe : {1, 2, 8}) EXPECT_THAT(arp_findings(twins(), arp_ignore(safe, safe)), IsEmpty()) << safe;
  for (const int unsafe : {0, 3, 4, 7}) EXPECT_EQ(arp_findings(twins(), arp_ignore(unsafe, 1)).size(), 1U) << unsafe;
}

// As on a switch, and where the hardware reports no plug.
TEST(DoctorArp, PortsThatHearTheSamePortAreOnOneSegment) {
  Json ports = twins();
  ports[0]["plug"] = ports[1]["plug"] = nullptr;
  ports[0]["neighbours"] = Json::array({{{"node", "n1"}, {"interface", "eth0"}}});
  ports[1]["neighbours"] =
      Json::array({{{"node", "n2"}, {"interface", "eth0"}}, {{"node", "n1"}, {"interface", "eth0"}}});
  EXPECT_THAT(arp_findings(ports, arp_ignore(0, 0)),
              ElementsAre(Field(&Finding::what, HasSubstr("they are on one segment, and arp_ignore is 0"))));
  ports[1]["neighbours"][1]["interface"] = "eth1";
  EXPECT_THAT(arp_findings(ports, arp_ignore(0, 0)), IsEmpty());
}

// Two neighbours of one name, on two cables, look like one on both.
TEST(DoctorArp, WhatNamesakesSayIsNoSegmentButOtherPortsAreExamined) {
  Json ports = twins();
  for (const char* name : {"eth8", "eth9"}) {
    ports.push_back(port(name, "", {"10.8.0.1/24"}));
    ports.back()["neighbours"] = Json::array({{{"node", "n1"}, {"interface", "eth0"}}});
  }
  std::map<std::string, int> all = arp_ignore(0, 0);
  all["eth8"] = all["eth9"] = 0;
  EXPECT_EQ(arp_findings(ports, all).size(), 2U);
  EXPECT_THAT(arp_findings(ports, all, "eth9"),
              ElementsAre(Field(&Finding::about, "ports enp1s0f0np0, enP2p1s0f0np0")));
}

TEST(DoctorArp, APortMayJoinTwoSegments) {
  Json ports = twins();
  ports[1]["plug"] = "p1";
  Json third = port("eth9", "p1", {"10.7.2.1/24"});
  third["neighbours"] = ports[0]["neighbours"] = Json::array({{{"node", "n1"}, {"interface", "eth0"}}});
  ports.push_back(third);
  EXPECT_THAT(arp_findings(ports, arp_ignore(0, 0)),
              ElementsAre(Field(&Finding::about, "ports enp1s0f0np0, enP2p1s0f0np0, eth9")));
}

TEST(DoctorArp, OtherPortsHaveNoFinding) {
  const std::map<std::string, int> all_answer = arp_ignore(0, 0);
  Json ports = twins();
  ports[1]["plug"] = "p1";
  EXPECT_THAT(arp_findings(ports, all_answer), IsEmpty()) << "two plugs";
  ports[0]["plug"] = ports[1]["plug"] = nullptr;
  EXPECT_THAT(arp_findings(ports, all_answer), IsEmpty()) << "no plug";
  ports = twins();
  ports[0]["addresses"] = ports[1]["addresses"] = Json::array({"fe80::1%eth1/64"});
  EXPECT_THAT(arp_findings(ports, all_answer), IsEmpty()) << "no IPv4";
  EXPECT_THAT(arp_findings(twins(), {}), IsEmpty()) << "not known";
}

TEST(DoctorArp, ATwinWithoutAnIpv4AddressAnswersToo) {
  Json ports = twins();
  ports[1]["addresses"] = Json::array({"fe80::2%enP2p1s0f0np0/64"});
  EXPECT_THAT(arp_findings(ports, arp_ignore(0, 0)),
              ElementsAre(Field(&Finding::what, HasSubstr("arp_ignore is 0 on enP2p1s0f0np0:"))));
}

TEST(DoctorArp, AdviceSpellsDotsAsSysctlDoes) {
  Json ports = twins();
  ports[0]["interface"] = "eth1.100";
  const std::vector<Finding> findings = arp_findings(ports, {{"eth1.100", 0}});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings.front().advice, HasSubstr("net.ipv4.conf.eth1/100.arp_ignore=1 "));
}

}  // namespace
}  // namespace cableway::cli
