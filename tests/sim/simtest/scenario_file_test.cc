#include "sim/simtest/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cableway::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kGood[] = R"(about = "x"
[topology]
nodes = 3
cables = [[0, 1]]
twins = [[1, 2]]
[[flow]]
from = 0
to = 2
messages = 4
[[fault]]
kind = "cut"
at_ms = 10
target = 2
[expect]
done_at_least = 4
)";

std::string error_of(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), with);
  const absl::StatusOr<Scenario> scenario = parse_scenario(text, "a.toml");
  EXPECT_FALSE(scenario.ok()) << text;
  return scenario.ok() ? "" : std::string(scenario.status().message());
}

TEST(ScenarioFile, DefinesAPlan) {
  const absl::StatusOr<Scenario> scenario = parse_scenario(kGood, "a.toml");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  EXPECT_EQ(scenario->plan.shape.nodes, 3U);
  ASSERT_EQ(scenario->plan.shape.cables.size(), 3U);
  EXPECT_EQ(scenario->plan.shape.cables[1].plug, scenario->plan.shape.cables[2].plug);
  EXPECT_EQ(scenario->plan.flows[0].messages.size(), 4U);
  EXPECT_EQ(to_text(scenario->plan.faults), "cut@10+0:2:0");
  EXPECT_EQ(scenario->done_at_least, 4U);
}

TEST(ScenarioFile, DefinesWhichCablesHaveRdma) {
  std::string text = kGood;
  text.replace(text.find("nodes = 3"), 9, "nodes = 3\nswitch = [0, 2]\nrdma = [1, 3]");
  const absl::StatusOr<Scenario> scenario = parse_scenario(text, "a.toml");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  const ShapePlan& shape = scenario->plan.shape;
  EXPECT_FALSE(shape.cables[0].rdma_at_a || shape.cables[0].rdma_at_b);
  EXPECT_TRUE(shape.cables[1].rdma_at_a && shape.cables[1].rdma_at_b);
  EXPECT_FALSE(shape.cables[2].rdma_at_a || shape.cables[2].rdma_at_b);
  EXPECT_TRUE(shape.rdma_at_switch);
}

TEST(ScenarioFile, DefinesPulsesAndWhatIsExpectedOfThem) {
  std::string text = kGood;
  text.replace(text.find("[[flow]]"), 8, "[timing]\npulse_ms = 20\nstalls_ms = 30\n[[flow]]");
  text += "silent_at_least = 2\nverdicts_at_most = 3\ndrained_left_within_ms = 500\n";
  const absl::StatusOr<Scenario> scenario = parse_scenario(text, "a.toml");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  EXPECT_EQ(scenario->plan.pulse, std::chrono::milliseconds(20));
  EXPECT_EQ(scenario->plan.stalls, Duration(std::chrono::milliseconds(30)));
  SimtestResult result;
  result.done = 4;
  result.silent = 1;
  EXPECT_EQ(check_expectations(*scenario, result).message(), "verdicts that a cable is silent: 1; expected at least 2");
  result.silent = 4;
  EXPECT_EQ(check_expectations(*scenario, result).message(), "verdicts: 4; expected at most 3");
  result.silent = 2;
  EXPECT_TRUE(check_expectations(*scenario, result).ok());
  result.on_draining = std::chrono::milliseconds(600);
  EXPECT_EQ(check_expectations(*scenario, result).message(),
            "ms with a circuit over a cable that drains: 600; expected at most 500");
}

TEST(ScenarioFile, ReportsErrorsAndWhatWasExpected) {
  EXPECT_THAT(error_of(kGood, "nodes = 3", "nodes = 1"), StartsWith("a.toml:3: nodes is not valid; expected"));
  EXPECT_THAT(error_of(kGood, "[[0, 1]]", "[[0, 3]]"), StartsWith("a.toml:4: "));
  EXPECT_THAT(error_of(kGood, "[[0, 1]]", "[[1, 1]]"), HasSubstr("expected pairs of different nodes"));
  const std::string rdma = "nodes = 3\nrdma = ";
  EXPECT_THAT(error_of(kGood, "nodes = 3", rdma + "[3]"),
              HasSubstr("rdma is not valid; expected a whole number from 0 to 2"));
  EXPECT_THAT(error_of(kGood, "nodes = 3", rdma + "1"), HasSubstr("rdma is not valid; expected a list of cables"));
  const std::string many = std::string(kGood) + "[[flow]]\nfrom = 0\nto = 1\nmessages = 9000\nbytes = 0\n";
  EXPECT_TRUE(parse_scenario(many, "a.toml").ok());
  EXPECT_THAT(error_of(many, "nodes = 3", rdma + "[0]"), HasSubstr("there are 9004 messages"));
  EXPECT_THAT(error_of(kGood, "to = 2", "two = 2"), StartsWith("a.toml:8: "));
  EXPECT_THAT(error_of(kGood, "\"cut\"", "\"cutt\""), HasSubstr("expected one of cut"));
  EXPECT_THAT(error_of(kGood, "target = 2", "target = 3"), StartsWith("a.toml:13: target"));
  EXPECT_THAT(error_of(kGood, "kind = \"cut\"", "kind = \"loss\""), HasSubstr("expected lasts_ms"));
  EXPECT_THAT(error_of(kGood, "about = \"x\"", ""), HasSubstr("there is no about"));
  EXPECT_THAT(error_of(kGood, "[expect]", "[expects]"), HasSubstr("expect"));
}

TEST(ScenarioFile, ExpectationsAreComparedWithTheRun) {
  const absl::StatusOr<Scenario> scenario = parse_scenario(kGood, "a.toml");
  ASSERT_TRUE(scenario.ok());
  SimtestResult result;
  result.done = 4;
  EXPECT_TRUE(check_expectations(*scenario, result).ok());
  result.failed = 1;
  EXPECT_EQ(check_expectations(*scenario, result).message(), "messages failed: 1; expected at most 0");
  result.failed = 0;
  result.done = 3;
  EXPECT_EQ(check_expectations(*scenario, result).message(), "messages done: 3; expected at least 4");
}

}  // namespace
}  // namespace cableway::sim
