// Doctor's advice about the setting `tuner`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "tests/tools/cableway/expectation/wired.h"
#include "tools/cableway/doctor/doctor.h"

namespace cableway::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

routing::Topology line() {
  return wired({"n0 a n1 b", "n1 a n2 b"});
}
routing::Topology ring() {
  return wired({"n0 a n1 b", "n1 a n2 b", "n2 a n0 b"});
}

std::optional<Finding> tuner_finding(TunerSetting tuner, std::optional<routing::Topology> found,
                                     std::optional<absl::StatusOr<ExpectedTopology>> expected = std::nullopt) {
  Examined examined;
  examined.settings.tuner = tuner;
  examined.node = absl::NotFoundError("none");
  examined.topology = std::move(found);
  examined.expected = std::move(expected);
  for (Finding& each : examine(examined)) {
    if (each.code == "TUNER_UNFIT") return std::move(each);
  }
  return std::nullopt;
}

TEST(DoctorTuner, NamesTheValueForAllHosts) {
  const std::optional<Finding> finding = tuner_finding(TunerSetting::kSparks, ring());
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->severity, Severity::kInfo);
  EXPECT_EQ(finding->about, "tuner");
  EXPECT_THAT(finding->what, HasSubstr("CABLEWAY_TUNER is sparks here, and the topology is one for ring"));
  EXPECT_THAT(finding->advice, AllOf(HasSubstr("tuner = \"ring\""), HasSubstr("of all hosts")));
}

TEST(DoctorTuner, SaysNothingWhereItFitsOrIsOffOrNoneFits) {
  EXPECT_FALSE(tuner_finding(TunerSetting::kLine, line()));
  EXPECT_FALSE(tuner_finding(TunerSetting::kRing, ring()));
  EXPECT_FALSE(tuner_finding(TunerSetting::kOff, ring()));
  EXPECT_FALSE(tuner_finding(TunerSetting::kRing, line())) << "it may be a ring with a cable that is out";
  EXPECT_FALSE(tuner_finding(TunerSetting::kLine, wired({"n0 a n1 a"})));
  EXPECT_FALSE(tuner_finding(TunerSetting::kLine, std::nullopt));
}

TEST(DoctorTuner, TheExpectedTopologyDecidesWhereThereIsOne) {
  const ExpectedTopology expected{"ring.toml", ring()};
  EXPECT_FALSE(tuner_finding(TunerSetting::kRing, line(), expected)) << "a ring with a cable that is out";
  EXPECT_FALSE(tuner_finding(TunerSetting::kRing, std::nullopt, expected));
  const std::optional<Finding> finding = tuner_finding(TunerSetting::kLine, line(), expected);
  ASSERT_TRUE(finding.has_value());
  EXPECT_THAT(finding->what, HasSubstr("the expected topology is one for ring"));
  EXPECT_TRUE(tuner_finding(TunerSetting::kRing, line(), ExpectedTopology{"line.toml", line()}));
  EXPECT_TRUE(tuner_finding(TunerSetting::kLine, ring(), absl::InvalidArgumentError("e.toml:1: no")));
}

}  // namespace
}  // namespace cableway::cli
