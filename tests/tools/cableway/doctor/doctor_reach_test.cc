#include "tools/cableway/doctor/doctor_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace cableway::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kTimeout[] = "cannot reach 10.7.0.2 TCP port 7470: Connection timed out";

// Answers with each of `errors` in turn, "" for success, and counts the requests.
class Answers {
 public:
  explicit Answers(std::vector<std::string> errors) : errors_(std::move(errors)) {}

  std::vector<Finding> examine(bool is_all = false) {
    const Json ports = Json::parse(R"([{"interface": "eth1", "neighbours": [
        {"node": "n0", "interface": "eth7", "state": "up"}, {"node": "n9", "interface": "eth7", "state": "heard"}]}])");
    const auto test = [&](const CableProbeRequest& request) -> absl::StatusOr<CableProbeReply> {
      EXPECT_EQ(request, (CableProbeRequest{{{"eth1", "n0", "eth7"}}, kReachMs, false}));
      return CableProbeReply{"", {{errors_.at(requests_++), 0, 0, "tcp", 0}}};
    };
    return examine_reach({"n1", ports}, test, is_all).findings;
  }
  std::size_t requests() const { return requests_; }

 private:
  std::vector<std::string> errors_;
  std::size_t requests_ = 0;
};

TEST(DoctorReach, ACableThatPassesTcpHasNoFinding) {
  Answers answers({""});
  EXPECT_THAT(answers.examine(), IsEmpty());
  EXPECT_EQ(answers.requests(), 1U);
}

TEST(DoctorReach, OneThatDropsItHasAWarningAfterTwoAttempts) {
  Answers answers({kTimeout, kTimeout});
  const std::vector<Finding> findings = answers.examine();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].code, "CABLE_UNREACHABLE");
  EXPECT_EQ(findings[0].about, "cable eth1 to node n0");
  EXPECT_THAT(findings[0].what, HasSubstr(kTimeout));
  EXPECT_THAT(findings[0].advice, HasSubstr("firewalls"));
}

TEST(DoctorReach, OneAttemptMayFail) {
  EXPECT_THAT(Answers({kTimeout, ""}).examine(), IsEmpty());
}

// The cable is slow, or busy: the connection was open.
TEST(DoctorReach, DataThatIsLateSaysNothing) {
  for (const char* error : {"cable eth1: the connection ended too early", "no answer after the data"}) {
    EXPECT_THAT(Answers({error}).examine(), IsEmpty()) << error;
  }
  const char* const other_program = "no answer to the set-up: no answer: Resource temporarily unavailable";
  EXPECT_THAT(Answers({other_program, other_program}).examine(), SizeIs(1));
}

TEST(DoctorReach, DataThatIsLateIsAFindingWhereNoSpeedTestFollows) {
  const char* const error = "the data did not end in time";
  const std::vector<Finding> findings = Answers({error, error}).examine(true);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].code, "CABLE_SLOW");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_THAT(findings[0].what, HasSubstr(error));
  EXPECT_THAT(Answers({error, ""}).examine(true), IsEmpty());
}

// On a switch: one of the two is behind a firewall.
TEST(DoctorReach, TwoCablesOfOnePortToOneNodeAreApart) {
  const Json ports = Json::parse(R"([{"interface": "eth1", "rate_mbps": null, "neighbours": [
      {"node": "n0", "interface": "eth7", "state": "up", "rate_mbps": null},
      {"node": "n0", "interface": "eth8", "state": "up", "rate_mbps": null}]}])");
  const auto test = [](const CableProbeRequest& request) -> absl::StatusOr<CableProbeReply> {
    const bool is_open = request.cables[0].other_interface == "eth8";
    return CableProbeReply{"", {{is_open ? "" : kTimeout, 100, 100, "tcp", 0}}};
  };
  SpeedExamination examination{"n1", ports};
  const Reach reach = examine_reach(examination, test, false);
  ASSERT_THAT(reach.findings, SizeIs(1));
  EXPECT_EQ(reach.findings[0].about, "cable eth1 to node n0 (eth7 there)");
  EXPECT_EQ(reach.unreachable, (std::vector<ProbedCable>{{"eth1", "n0", "eth7"}}));
  examination.unreachable = reach.unreachable;
  const std::vector<Finding> speeds = examine_speed(examination, test);
  ASSERT_THAT(speeds, SizeIs(1));
  EXPECT_EQ(speeds[0].about, "cable eth1 to node n0 (eth8 there)");
}

TEST(DoctorReach, ATestThatIsRefusedSaysNothing) {
  for (const char* refusal : {"CABLEWAY_CABLE_TEST is false on node n0", "a test of this port is running"}) {
    Answers answers({refusal});
    EXPECT_THAT(answers.examine(), IsEmpty()) << refusal;
    EXPECT_EQ(answers.requests(), 1U);
  }
}

}  // namespace
}  // namespace cableway::cli
