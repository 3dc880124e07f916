#include "tools/cableway/doctor/doctor_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace cableway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json ports(const std::string& rate, const std::string& neighbour_rate) {
  return Json::parse(R"([{"interface": "eth1", "rate_mbps": )" + rate + R"(, "neighbours": [
      {"node": "n0", "state": "up", "rate_mbps": )" +
                     neighbour_rate + R"(},
      {"node": "n9", "state": "heard", "rate_mbps": null}]}, {"interface": "eth2", "rate_mbps": null, "neighbours": []}])");
}

Finding tested(const Json& ports, std::uint64_t one_way, std::uint64_t there, std::uint64_t back) {
  std::vector<CableProbeRequest> requests;
  const std::vector<Finding> findings = examine_speed(ports, [&](const CableProbeRequest& request) {
    requests.push_back(request);
    return request.both_ways ? CableProbeReply{"", there, back} : CableProbeReply{"", one_way, 0};
  });
  EXPECT_THAT(requests,
              ElementsAre(CableProbeRequest{"eth1", "n0", 500, false}, CableProbeRequest{"eth1", "n0", 500, true}));
  EXPECT_EQ(findings.size(), 1U);
  return findings.front();
}

TEST(DoctorSpeed, AcceptsRatesNearTheNominalRateOfTheSlowerEnd) {
  const Finding finding = tested(ports("100000", "10000"), 9449, 9300, 9000);
  EXPECT_EQ(finding.severity, Severity::kOk);
  EXPECT_EQ(finding.code, "CABLE_TESTED");
  EXPECT_EQ(finding.about, "cable eth1 to node n0");
  EXPECT_EQ(finding.what,
            "9.4 Gbit/s one way; both ways at once 9.3 Gbit/s there and 9.0 Gbit/s back; nominal 10 Gbit/s");
  EXPECT_EQ(finding.advice, "");
}

TEST(DoctorSpeed, WarnsOfASlowCableAndMentionsOneThatIsSlowBothWays) {
  EXPECT_EQ(tested(ports("10000", "10000"), 6999, 9000, 9000).severity, Severity::kWarning);
  EXPECT_EQ(tested(ports("10000", "10000"), 7000, 7000, 7000).severity, Severity::kOk);
  const Finding finding = tested(ports("10000", "10000"), 9000, 9000, 4000);
  EXPECT_EQ(finding.severity, Severity::kInfo);
  EXPECT_EQ(finding.code, "CABLE_SLOW");
  EXPECT_THAT(finding.advice, HasSubstr("no job runs"));
}

TEST(DoctorSpeed, ExpectsNoMoreThanOneConnectionCanDo) {
  EXPECT_EQ(tested(ports("400000", "400000"), 14'000, 14'000, 14'000).severity, Severity::kOk);
  EXPECT_EQ(tested(ports("400000", "400000"), 13'999, 14'000, 14'000).severity, Severity::kWarning);
}

TEST(DoctorSpeed, AcceptsAnyRateIfTheNominalOneIsUnknown) {
  const Finding finding = tested(ports("null", "null"), 1, 1, 1);
  EXPECT_EQ(finding.severity, Severity::kOk);
  EXPECT_THAT(finding.what, HasSubstr("nominal not known"));
}

TEST(DoctorSpeed, ReportsWhyACableWasNotTested) {
  const std::vector<Finding> findings =
      examine_speed(ports("1000", "1000"), [](const CableProbeRequest&) -> absl::StatusOr<CableProbeReply> {
        return absl::FailedPreconditionError("CABLEWAY_CABLE_TEST is false on this node");
      });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::kInfo);
  EXPECT_EQ(findings[0].code, "CABLE_UNTESTED");
  EXPECT_EQ(findings[0].what, "its speed could not be tested: CABLEWAY_CABLE_TEST is false on this node");
}

TEST(DoctorSpeed, WarnsOfAnUnreachableNeighbour) {
  const std::vector<Finding> findings =
      examine_speed(ports("1000", "1000"), [](const CableProbeRequest&) -> absl::StatusOr<CableProbeReply> {
        return absl::FailedPreconditionError("cannot reach 10.7.0.2 TCP port 7470: Connection timed out");
      });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].code, "CABLE_UNREACHABLE");
  EXPECT_THAT(findings[0].what, HasSubstr("Connection timed out"));
  EXPECT_THAT(findings[0].advice, HasSubstr("firewall"));
}

}  // namespace
}  // namespace cableway::cli
