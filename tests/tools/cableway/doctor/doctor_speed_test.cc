#include "tools/cableway/doctor/doctor_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/routing/sample_topologies.h"
#include "tests/tools/cableway/doctor/split_plugs.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const ProbedCable kCable{"eth1", "n0", "eth7"};

Json ports(const std::string& rate, const std::string& neighbour_rate) {
  return Json::parse(R"([{"interface": "eth1", "rate_mbps": )" + rate + R"(, "neighbours": [
      {"node": "n0", "interface": "eth7", "state": "up", "rate_mbps": )" +
                     neighbour_rate + R"(},
      {"node": "n9", "interface": "eth7", "state": "heard", "rate_mbps": null}]},
      {"interface": "eth2", "rate_mbps": null, "neighbours": []}])");
}

Finding tested(const Json& ports, std::uint64_t one_way, std::uint64_t there, std::uint64_t back,
               const std::string& over = "tcp", double least_share = kLeastShare,
               std::uint32_t packet_bytes = kFullPacket) {
  std::vector<CableProbeRequest> requests;
  const SpeedExamination examination{"n1", ports, nullptr, least_share};
  const std::vector<Finding> findings = examine_speed(examination, [&](const CableProbeRequest& request) {
    requests.push_back(request);
    const CableRates rates{"", request.both_ways ? there : one_way, request.both_ways ? back : 0, over,
                           over == "tcp" ? 0 : packet_bytes};
    return CableProbeReply{"", {rates}};
  });
  EXPECT_THAT(requests, ElementsAre(CableProbeRequest{{kCable}, 500, false}, CableProbeRequest{{kCable}, 500, true}));
  EXPECT_EQ(findings.size(), 1U);
  return findings.front();
}

Finding over_rdma(std::uint64_t one_way, std::uint64_t there, std::uint64_t back, double least_share = kLeastShare) {
  return tested(ports("98300", "200000"), one_way, there, back, "rdma mlx5_0", least_share);
}

TEST(DoctorSpeed, AcceptsRatesNearTheNominalRateOfTheSlowerEnd) {
  const Finding finding = tested(ports("100000", "10000"), 9449, 9300, 9000);
  EXPECT_EQ(finding.severity, Severity::kOk);
  EXPECT_EQ(finding.code, "CABLE_TESTED");
  EXPECT_EQ(finding.about, "cable eth1 to node n0");
  EXPECT_EQ(finding.what,
            "9.4 Gbit/s one way; both ways at once 9.3 Gbit/s there and 9.0 Gbit/s back; nominal 10 Gbit/s, expected "
            "7.0 Gbit/s at least (tcp)");
  EXPECT_EQ(finding.advice, "");
  EXPECT_EQ(finding.measured, Json({{"over", "tcp"},
                                    {"nominal_mbps", 10000},
                                    {"least_mbps", 7000},
                                    {"one_way_mbps", 9449},
                                    {"to_mbps", 9300},
                                    {"from_mbps", 9000}}));
}

TEST(DoctorSpeed, OverTcpWarnsOfASlowCableAndMentionsOneThatIsSlowBothWays) {
  EXPECT_EQ(tested(ports("10000", "10000"), 6999, 9000, 9000).severity, Severity::kWarning);
  EXPECT_EQ(tested(ports("10000", "10000"), 7000, 7000, 7000).severity, Severity::kOk);
  const Finding finding = tested(ports("10000", "10000"), 9000, 9000, 4000);
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(finding.code, "CABLE_SLOW");
  EXPECT_THAT(finding.advice, HasSubstr("no job runs"));
}

TEST(DoctorSpeed, OverTcpExpectsNoMoreThanOneConnectionCanDo) {
  EXPECT_EQ(tested(ports("400000", "400000"), 14'000, 14'000, 14'000).severity, Severity::kOk);
  EXPECT_EQ(tested(ports("400000", "400000"), 13'999, 14'000, 14'000).severity, Severity::kWarning);
}

TEST(DoctorSpeed, OverRdmaExpectsTheRate) {
  EXPECT_EQ(over_rdma(109'000, 106'000, 107'000).severity, Severity::kOk);
  EXPECT_EQ(over_rdma(93'385, 93'385, 93'385).severity, Severity::kOk);
  const Finding slow = over_rdma(93'384, 93'385, 93'385);
  EXPECT_EQ(slow.severity, Severity::kWarning);
  EXPECT_EQ(slow.code, "CABLE_SLOW");
  EXPECT_THAT(slow.what, HasSubstr("nominal 98.3 Gbit/s, expected 93.4 Gbit/s at least (rdma mlx5_0)"));
}

// As owners of DGX Sparks measured it: 119 Gbit/s in both directions together, where a healthy cable has 213.
TEST(DoctorSpeed, OverRdmaFindsADegradedCableThatIsHealthyOneWay) {
  const Finding degraded = over_rdma(109'000, 60'000, 59'000);
  EXPECT_EQ(degraded.severity, Severity::kWarning);
  EXPECT_EQ(degraded.code, "CABLE_DEGRADED");
  EXPECT_EQ(degraded.what,
            "109.0 Gbit/s one way; both ways at once 60.0 Gbit/s there and 59.0 Gbit/s back; nominal 98.3 Gbit/s, "
            "expected 93.4 Gbit/s at least (rdma mlx5_0); healthy one way: only both at once show it");
  EXPECT_THAT(degraded.advice, HasSubstr("reboot both hosts, reseat the cable at both ends"));
  EXPECT_EQ(over_rdma(109'000, 107'000, 13'000).code, "CABLE_DEGRADED") << "one direction suffices";
}

TEST(DoctorSpeed, TheLeastShareCanBeSet) {
  EXPECT_EQ(over_rdma(60'000, 50'000, 50'000, 0.5).severity, Severity::kOk);
  EXPECT_EQ(over_rdma(98'300, 98'300, 98'299, 1).code, "CABLE_DEGRADED");
}

// At MTU 1500 headers leave 1024 of 1106 bytes.
TEST(DoctorSpeed, ExpectsLessOfSmallPackets) {
  const auto small = [](std::uint64_t mbps, const std::string& over = "rdma mlx5_0") {
    return tested(ports("100000", "100000"), mbps, mbps, mbps, over, kLeastShare, 1024);
  };
  const Finding healthy = small(92'500);
  EXPECT_EQ(healthy.code, "CABLE_TESTED");
  EXPECT_THAT(healthy.what, HasSubstr("nominal 100 Gbit/s, expected 89.7 Gbit/s at least (rdma mlx5_0, packets of 1024 "
                                      "bytes)"));
  EXPECT_EQ(small(89'700).code, "CABLE_SLOW");
  EXPECT_THAT(small(92'500, "tcp").what, Not(HasSubstr("packets")));
  EXPECT_EQ(tested(ports("100000", "100000"), 94'999, 95'000, 95'000, "rdma mlx5_0").code, "CABLE_SLOW");
}

TEST(DoctorSpeed, AcceptsAnyRateIfTheNominalOneIsUnknown) {
  const Finding finding = tested(ports("null", "null"), 1, 1, 1);
  EXPECT_EQ(finding.severity, Severity::kOk);
  EXPECT_THAT(finding.what, HasSubstr("nominal not known (tcp)"));
  EXPECT_TRUE(finding.measured.at("least_mbps").is_null());
}

// As tested() over TCP, where the expected topology states that rate for the cable.
Finding tested_with_expected(const Json& ports, std::uint64_t stated_mbps, std::uint64_t mbps) {
  const routing::Topology expected =
      routing::make_topology({{.name = "n0"}, {.name = "n1"}}, {{.name = "c0",
                                                                 .a = {routing::NodeIndex{0}, "eth7", "10.0.0.1"},
                                                                 .b = {routing::NodeIndex{1}, "eth1", "10.0.0.2"},
                                                                 .rate_mbps = stated_mbps}});
  SpeedExamination examination{"n1", ports};
  examination.expected = &expected;
  const std::vector<Finding> findings = examine_speed(examination, [&](const CableProbeRequest& request) {
    return CableProbeReply{"", {CableRates{"", mbps, request.both_ways ? mbps : 0, "tcp", 0}}};
  });
  EXPECT_EQ(findings.size(), 1U);
  return findings.front();
}

TEST(DoctorSpeed, ExpectsTheRateOfTheExpectedTopologyWhereThePortsKnowNone) {
  const Finding slow = tested_with_expected(ports("null", "null"), 200, 20);
  EXPECT_EQ(slow.severity, Severity::kWarning);
  EXPECT_EQ(slow.code, "CABLE_SLOW");
  EXPECT_THAT(slow.what, HasSubstr("nominal 200 Mbit/s in the expected topology, expected 140 Mbit/s at least (tcp)"));
  EXPECT_THAT(slow.advice, HasSubstr("a limit of the rate"));
  EXPECT_THAT(slow.advice, Not(HasSubstr("a port runs at")));
  EXPECT_THAT(slow.advice, Not(HasSubstr("firewall")));
  EXPECT_EQ(slow.measured.at("nominal_mbps"), 200);
  EXPECT_EQ(tested_with_expected(ports("null", "null"), 200, 140).code, "CABLE_TESTED");
}

TEST(DoctorSpeed, ExpectsTheRateOfTheExpectedTopologyRatherThanThatOfPortsWhichRunSlower) {
  const Finding slow = tested_with_expected(ports("1000", "null"), 9000, 950);
  EXPECT_EQ(slow.code, "CABLE_SLOW");
  EXPECT_THAT(slow.advice, HasSubstr("that a port runs at 1 Gbit/s (ethtool"));
  EXPECT_EQ(tested_with_expected(ports("9000", "9000"), 1000, 950).code, "CABLE_TESTED") << "as the operator states";
}

TEST(DoctorSpeed, ExpectsTheRateOfThePortsWhereTheExpectedTopologyStatesNone) {
  EXPECT_EQ(tested_with_expected(ports("1000", "1000"), routing::kDefaultRateMbps, 950).code, "CABLE_TESTED");
}

std::vector<Finding> refused(const absl::StatusOr<CableProbeReply>& reply) {
  const Json asked = ports("1000", "1000");
  return examine_speed({"n1", asked}, [&](const CableProbeRequest&) { return reply; });
}

TEST(DoctorSpeed, ReportsWhyACableWasNotTested) {
  const std::vector<Finding> findings =
      refused(absl::FailedPreconditionError("CABLEWAY_CABLE_TEST is false on this node"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::kInfo);
  EXPECT_EQ(findings[0].code, "CABLE_UNTESTED");
  EXPECT_EQ(findings[0].what, "its speed could not be tested: CABLEWAY_CABLE_TEST is false on this node");
  EXPECT_TRUE(findings[0].measured.is_null());
}

// It was reached: firewalls are not the cause.
TEST(DoctorSpeed, ACableThatTheDataDoesNotCrossInTimeIsSlow) {
  for (const char* error : {"the data did not end in time", "the connection ended too early"}) {
    const std::vector<Finding> findings = refused(CableProbeReply{"", {{error, 0, 0, "", 0}}});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].severity, Severity::kWarning);
    EXPECT_EQ(findings[0].code, "CABLE_SLOW");
    EXPECT_THAT(findings[0].advice, testing::Not(HasSubstr("firewall")));
    EXPECT_THAT(findings[0].advice, testing::Not(HasSubstr("MTU")));
  }
}

TEST(DoctorSpeed, AdviceForASlowCableNamesTheMtuOnlyWhereItIsSmall) {
  Json asked = ports("10000", "10000");
  EXPECT_THAT(tested(asked, 100, 100, 100).advice, testing::Not(HasSubstr("MTU")));
  asked[0]["mtu"] = 1500;
  EXPECT_THAT(tested(asked, 100, 100, 100).advice, HasSubstr("MTU 1500"));
}

TEST(DoctorSpeed, UnreachableCablesAreNotTested) {
  const Json asked = ports("10000", "10000");
  SpeedExamination examination{"n1", asked};
  examination.unreachable = {{"eth1", "n0", asked[0]["neighbours"][0]["interface"]}};
  const auto fail = [](const CableProbeRequest&) -> absl::StatusOr<CableProbeReply> {
    ADD_FAILURE() << "a test of an unreachable cable";
    return absl::InternalError("");
  };
  EXPECT_THAT(examine_speed(examination, fail), testing::IsEmpty());
}

TEST(DoctorSpeed, WarnsOfAnUnreachableNeighbour) {
  const std::vector<Finding> findings =
      refused(CableProbeReply{"", {{"cannot reach 10.7.0.2 TCP port 7470: Connection timed out", 0, 0, "", 0}}});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].code, "CABLE_UNREACHABLE");
  EXPECT_THAT(findings[0].what, HasSubstr("Connection timed out"));
  EXPECT_THAT(findings[0].advice, HasSubstr("firewall"));
}

TEST(DoctorSpeed, AnAnswerOfOtherCablesIsAnError) {
  EXPECT_THAT(refused(CableProbeReply{"", {}}).at(0).what, HasSubstr("the node's answer is about other cables"));
}

// n0 of split_plugs.h: eth1 and eth2 to those of n1, over one wire.
class DoctorPlugTest : public ::testing::Test {
 protected:
  // Rates of a cable alone, and of each while both are tested.
  std::vector<Finding> examine(std::uint64_t alone, const std::vector<CableRates>& together) {
    const routing::Topology topology = hosts_.topology();
    const SpeedExamination examination{"n0", ports_, &topology};
    return examine_speed(examination, [&](const CableProbeRequest& request) {
      requests_.push_back(request);
      if (request.cables.size() == 2) return CableProbeReply{"", together};
      return CableProbeReply{"",
                             {{"", alone, request.both_ways ? alone : 0, together[0].over, together[0].packet_bytes}}};
    });
  }
  static std::vector<CableRates> both(std::uint64_t to_mbps, std::uint64_t from_mbps) {
    return {{"", to_mbps, from_mbps, "rdma mlx5_0", 4096}, {"", to_mbps, from_mbps, "rdma mlx5_1", 4096}};
  }

  SplitPlugs hosts_;
  Json ports_ = Json::parse(R"([
      {"interface": "eth1", "rate_mbps": 98300, "neighbours": [
          {"node": "n1", "interface": "eth1", "state": "up", "rate_mbps": 98300}]},
      {"interface": "eth2", "rate_mbps": 98300, "neighbours": [
          {"node": "n1", "interface": "eth2", "state": "up", "rate_mbps": 98300}]}])");
  std::vector<CableProbeRequest> requests_;
};

TEST_F(DoctorPlugTest, ASplitPlugIsTestedWithAllOfItsFunctions) {
  const std::vector<Finding> findings = examine(105'000, both(96'000, 95'000));
  ASSERT_THAT(findings, SizeIs(3));
  EXPECT_THAT(requests_, SizeIs(5));
  EXPECT_EQ(requests_.back(), (CableProbeRequest{{{"eth1", "n1", "eth1"}, {"eth2", "n1", "eth2"}}, 500, true}));
  const Finding& plug = findings.back();
  EXPECT_EQ(plug.code, "CABLE_TESTED");
  EXPECT_EQ(plug.about, "plug eth1+eth2 to node n1");
  EXPECT_EQ(plug.what,
            "both ways at once 192.0 Gbit/s there and 190.0 Gbit/s back; nominal 200 Gbit/s, expected 190.0 Gbit/s at "
            "least (rdma mlx5_0, rdma mlx5_1)");
  EXPECT_TRUE(plug.measured.at("one_way_mbps").is_null());
}

TEST_F(DoctorPlugTest, ADegradedPlugIsFoundThoughItsFunctionsAreHealthy) {
  const std::vector<Finding> findings = examine(105'000, both(100'000, 94'999));
  ASSERT_THAT(findings, SizeIs(3));
  EXPECT_EQ(findings[0].code, "CABLE_TESTED");
  EXPECT_EQ(findings[2].code, "CABLE_DEGRADED");
  EXPECT_EQ(findings[2].severity, Severity::kWarning);
  EXPECT_THAT(findings[2].what, HasSubstr("190.0 Gbit/s back"));
  EXPECT_THAT(findings[2].what, HasSubstr("each of its cables alone is healthy"));
}

TEST_F(DoctorPlugTest, AFunctionThatIsDegradedIsNotCalledHealthy) {
  const std::vector<Finding> findings = examine(60'000, both(30'000, 30'000));
  EXPECT_EQ(findings.at(0).code, "CABLE_SLOW");
  EXPECT_EQ(findings.at(2).code, "CABLE_DEGRADED");
  EXPECT_THAT(findings.at(2).what, Not(HasSubstr("alone is healthy")));
}

// An adapter of which one PCIe link runs with two lanes.
TEST_F(DoctorPlugTest, ExpectsNoMoreThanThePcieLinksCarry) {
  hosts_.root_mbps[0] = {98'300, 49'100};
  const std::vector<Finding> findings = examine(105'000, both(70'100, 70'100));
  EXPECT_EQ(findings.at(2).code, "CABLE_TESTED");
  EXPECT_THAT(findings.at(2).what, HasSubstr("nominal 147.4 Gbit/s, expected 140.0 Gbit/s at least"));
}

TEST_F(DoctorPlugTest, OverTcpASlowPlugIsOnlyMentioned) {
  const CableRates slow{"", 10'000, 10'000, "tcp", 0};
  const std::vector<Finding> findings = examine(15'000, {slow, slow});
  EXPECT_EQ(findings.at(2).code, "CABLE_SLOW");
  EXPECT_EQ(findings.at(2).severity, Severity::kInfo);
  EXPECT_THAT(findings.at(2).what, HasSubstr("expected 28.0 Gbit/s at least (tcp)")) << "of two connections";
}

TEST_F(DoctorPlugTest, OneFunctionThatIsDownLeavesNoPlugToTest) {
  ports_.at(1).at("neighbours").clear();
  EXPECT_THAT(examine(105'000, both(1, 1)), SizeIs(1));
}

TEST_F(DoctorPlugTest, ExpectsNothingOfAWireWithAPortOfUnknownRate) {
  ports_.at(1).at("neighbours").at(0)["rate_mbps"] = nullptr;
  const std::vector<Finding> findings = examine(105'000, both(1, 1));
  EXPECT_EQ(findings.at(2).code, "CABLE_TESTED");
  EXPECT_THAT(findings.at(2).what, HasSubstr("nominal not known"));
}

TEST_F(DoctorPlugTest, TheSmallestPacketsCount) {
  std::vector<CableRates> rates = both(92'500, 92'500);
  rates[1].packet_bytes = 1024;
  const std::vector<Finding> findings = examine(105'000, rates);
  EXPECT_EQ(findings.at(2).code, "CABLE_TESTED");
  EXPECT_THAT(findings.at(2).what, HasSubstr("expected 179.4 Gbit/s at least"));
}

// A switch joins all four ports: each port ends two cables, and is tested with one of them.
TEST_F(DoctorPlugTest, EachPortIsTestedOnce) {
  hosts_.is_switched = true;
  for (const std::size_t port : {0, 1}) {
    Json& neighbours = ports_.at(port).at("neighbours");
    neighbours.push_back(neighbours.at(0));
    neighbours.at(1)["interface"] = port == 0 ? "eth2" : "eth1";
  }
  const std::vector<Finding> findings = examine(105'000, both(96'000, 95'000));
  ASSERT_THAT(findings, SizeIs(5)) << "four cables and a plug";
  EXPECT_EQ(requests_.back(), (CableProbeRequest{{{"eth1", "n1", "eth1"}, {"eth2", "n1", "eth2"}}, 500, true}));
  EXPECT_EQ(findings.back().code, "CABLE_TESTED");
}

TEST_F(DoctorPlugTest, AFailureOfOneCableIsThePlugs) {
  std::vector<CableRates> rates = both(95'000, 95'000);
  rates[1].error = "cable eth2 to node n1: the neighbour refused: another test of this port is running";
  const std::vector<Finding> findings = examine(105'000, rates);
  EXPECT_EQ(findings.at(2).code, "CABLE_UNTESTED");
  EXPECT_EQ(findings.at(2).about, "plug eth1+eth2 to node n1");
}

}  // namespace
}  // namespace cableway::cli
