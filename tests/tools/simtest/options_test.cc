#include "tools/simtest/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tools/simtest/run_report.h"
#include "tools/simtest/seed_runner.h"

namespace cableway::simtest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Seeds, AreARangeOrASingleSeed) {
  EXPECT_EQ(parse_seeds("3..7")->first, 3U);
  EXPECT_EQ(parse_seeds("3..7")->last, 7U);
  EXPECT_EQ(parse_seeds("9")->last, 9U);
  for (const char* text : {"", "a", "1..", "..2", "3..2", "-1..2", "1..2..3", "1..99999999999"}) {
    EXPECT_FALSE(parse_seeds(text).ok()) << text;
  }
  EXPECT_THAT(std::string(parse_seeds("3..2").status().message()), HasSubstr("expected A..B"));
}

TEST(ReplayOption, AcceptsASeedAndItsFaults) {
  EXPECT_FALSE(parse_replay("17")->faults.has_value());
  EXPECT_TRUE(parse_replay("17:none")->faults->empty());
  const absl::StatusOr<Replay> replay = parse_replay("17:cut@1+2:3:1,kill@5+6:7:0");
  ASSERT_TRUE(replay.ok()) << replay.status();
  EXPECT_EQ(replay->seed, 17U);
  EXPECT_EQ(replay->faults->size(), 2U);
  for (const char* text : {"", "x", ":none", "17:", "17:cut"}) EXPECT_FALSE(parse_replay(text).ok()) << text;
}

TEST(SoakOption, IsHoursAndASeed) {
  EXPECT_EQ(parse_soak("24")->lasts, Duration(std::chrono::hours(24)));
  EXPECT_EQ(parse_soak("24")->seed, 1U);
  EXPECT_EQ(parse_soak("0.5:7")->lasts, Duration(std::chrono::minutes(30)));
  EXPECT_EQ(parse_soak("0.5:7")->seed, 7U);
  for (const char* text : {"", "0", "-1", "x", "1:", "1:x", "1e9", "nan"}) EXPECT_FALSE(parse_soak(text).ok()) << text;
}

TEST(ReplayOption, AFaultWithoutATargetIsNamed) {
  const auto error_of = [](const std::string& text) {
    return std::string(plan_of(*parse_replay(text)).status().message());
  };
  const sim::SimtestPlan world = *plan_of(*parse_replay("17"));
  const std::string last_cable = std::to_string(world.shape.segments() - 1);
  const std::string last_flow = std::to_string(world.flows.size() - 1);
  EXPECT_EQ(error_of("17:cut@1+2:999:1"),
            "--replay: seed 17: fault \"cut@1+2:999:1\": there is no cable 999; expected "
            "a cable from 0 to " +
                last_cable);
  EXPECT_THAT(error_of("17:crash@1+2:64:0"), HasSubstr("there is no node 64"));
  EXPECT_THAT(error_of("17:kill@1+2:999:0"), HasSubstr("expected a flow from 0 to " + last_flow));
  EXPECT_THAT(error_of("17:partition@1+2:1:3"), HasSubstr("expected a target from 0 to 0"));
  EXPECT_TRUE(plan_of(*parse_replay("17:cut@1+2:" + last_cable + ":1,kill@1+2:" + last_flow + ":0")).ok());
}

TEST(ReplayOption, EverySeedCanBeReplayedAsShown) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Replay shown{seed, sim::make_simtest_plan(seed).faults};
    EXPECT_TRUE(plan_of(shown).ok()) << plan_of(shown).status();
  }
}

TEST(SimtestReport, SurvivesSerialisation) {
  SimtestReport report;
  report.seed = 5;
  report.result.trace = 0xFFFF'FFFF'FFFF'FFFFULL;
  report.result.done = 7;
  report.failures.push_back(Failure{"seed 5", 4, 1.5, "a \"quoted\"\nline", "simtest --replay 5"});
  const absl::StatusOr<SimtestReport> read = from_line(to_line(report));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_line(report).find('\n'), std::string::npos);
  EXPECT_EQ(read->result.trace, report.result.trace);
  EXPECT_EQ(read->result.done, 7U);
  ASSERT_EQ(read->failures.size(), 1U);
  EXPECT_EQ(read->failures[0].what, report.failures[0].what);
  EXPECT_FALSE(from_line("half a li").ok());
}

TEST(SimtestReport, CountsFaultsByKind) {
  SimtestReport report;
  report.result.faults[static_cast<std::size_t>(sim::FaultKind::kCut)] = 3;
  report.result.faults[static_cast<std::size_t>(sim::FaultKind::kDrainCable)] = 2;
  report.result.cuts = 4;
  report.result.bytes = 5'000'000;
  Summary summary;
  summary.add(*from_line(to_line(report)));
  summary.add(report);
  EXPECT_THAT(to_text(summary), HasSubstr("10 faults: 6 cut, 4 drain_cable.\n8 cuts under verified load (10.0 MB "
                                          "compared with what was sent): 0 bytes lost, doubled or wrong.\n"));
  EXPECT_THAT(to_json(summary), HasSubstr("\"cut\": 6"));
  EXPECT_THAT(to_json(summary), HasSubstr("\"total\": 10"));
  EXPECT_THAT(to_json(summary), HasSubstr("\"cuts\": 8"));
}

TEST(SimtestReport, TellsHowOftenTheRulesAboutPathsWereChecked) {
  SimtestReport report;
  report.result.stalls_checked = 3;
  report.result.longest_stall = std::chrono::milliseconds(40);
  report.result.ports_judged = 5;
  report.result.bytes_on_judged = 4'000'000;
  report.result.alternates_on_judged = 20'000;
  Summary summary;
  EXPECT_THAT(to_text(summary), Not(HasSubstr("ports judged")));
  summary.add(*from_line(to_line(report)));
  report.result.longest_stall = std::chrono::milliseconds(20);
  summary.add(report);
  EXPECT_THAT(to_text(summary),
              HasSubstr("6 flows with another circuit lost one with its carrier: stalled for 40 ms at most. 10 ports "
                        "judged that alternates share: 0.50 % of 8.0 MB on ports in use was theirs.\n"));
  EXPECT_THAT(to_json(summary), HasSubstr("\"stalls_checked\": 6"));
  EXPECT_THAT(to_json(summary), HasSubstr("\"longest_stall_ms\": 40"));
  EXPECT_THAT(to_json(summary), HasSubstr("\"ports_judged\": 10"));
  EXPECT_THAT(to_json(summary), HasSubstr("\"bytes_on_judged_ports\": 8000000"));
  EXPECT_THAT(to_json(summary), HasSubstr("\"alternates_on_judged_ports\": 40000"));
}

TEST(SimtestReport, JsonHasItsSchema) {
  EXPECT_EQ(to_json(Summary()).find("{\n  \"schema\": 1,"), 0U) << to_json(Summary());
}

}  // namespace
}  // namespace cableway::simtest
