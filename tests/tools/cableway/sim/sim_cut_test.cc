// Cables that `cableway sim` cuts: a pause, or the end of the job; how it is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/routing/sample_topologies.h"
#include "tests/tools/cableway/command_run.h"
#include "tools/cableway/command/exit_status.h"
#include "tools/cableway/sim/sim_report.h"

namespace cableway::cli {
namespace {

using namespace std::chrono_literals;
using routing::CableIndex;
using routing::NodeIndex;
using ::testing::AllOf;
using ::testing::HasSubstr;

Outcome run_sim(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "sim");
  return run_command(arguments, {});
}

TEST(SimCut, ACutIsAPause) {
  const std::vector<std::string> job = {"--topology",  "ring:4", "--workload", "all_reduce:64MiB",
                                        "--multipath", "off",    "--json"};
  std::vector<std::string> cut = job;
  cut.insert(cut.end(), {"--fail", "cable:0-1@10ms"});
  const Outcome outcome = run_sim(cut);
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  const nlohmann::json view = nlohmann::json::parse(outcome.out);
  EXPECT_TRUE(view["ended_early"].is_null());
  EXPECT_GT(view["time_s"], nlohmann::json::parse(run_sim(job).out)["time_s"]);
  EXPECT_GT(view["bytes_sent_again"], 0);
  ASSERT_EQ(view["failures"][0]["flows"].size(), 2U);
  for (const nlohmann::json& flow : view["failures"][0]["flows"]) {
    EXPECT_EQ(flow["new_path"], nlohmann::json({"n0", "n3", "n2", "n1"}));
    EXPECT_NEAR(flow["pause_s"], 0.004, 0.002);
  }
  cut.erase(std::find(cut.begin(), cut.end(), "--json"));
  EXPECT_THAT(run_sim(cut).out, HasSubstr(": 2 flows crossed it, all went on over another path after at most "));
}

// Every flow has a circuit over each way around, and goes on over the other one without a new set-up.
TEST(SimCut, ACutOfOneOfTwoPathsIsAShorterPause) {
  const Outcome outcome =
      run_sim({"--topology", "ring:4", "--workload", "all_reduce:64MiB", "--fail", "cable:0-1@10ms", "--json"});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  const nlohmann::json flows = nlohmann::json::parse(outcome.out)["failures"][0]["flows"];
  ASSERT_EQ(flows.size(), 8U);
  for (const nlohmann::json& flow : flows) EXPECT_LT(flow["pause_s"], 0.002) << flow;
}

TEST(SimCut, ACutThatLeavesNoPathHasItsOwnStatus) {
  const std::vector<std::string> cut = {"--topology",       "line:3", "--workload",
                                        "all_reduce:64MiB", "--fail", "cable:0-1@10ms"};
  const Outcome outcome = run_sim(cut);
  EXPECT_EQ(outcome.exit_status, kJobEnded);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\nended      at 14"), HasSubstr("on the cables left the job cannot run: ")));
  std::vector<std::string> as_json = cut;
  as_json.push_back("--json");
  const nlohmann::json view = nlohmann::json::parse(run_sim(as_json).out);
  EXPECT_TRUE(view["time_s"].is_null());
  EXPECT_TRUE(view["ratio"].is_null());
  EXPECT_NEAR(view["ended_early"]["time_s"], 0.014, 0.0005);
  EXPECT_THAT(view["ended_early"]["reason"].get<std::string>(), HasSubstr("was cut"));
  EXPECT_TRUE(view["failures"][0]["flows"][0]["pause_s"].is_null());
}

// Cables whose cut comes after the end of the job are kept.
TEST(SimCut, WhatIsLeftIsSlowerWhereACableIsMissed) {
  const Outcome outcome =
      run_sim({"--topology", "switch:4", "--workload", "all_reduce:16MiB", "--fail", "cable:n0-n1@2ms", "--json"});
  const nlohmann::json left = nlohmann::json::parse(outcome.out)["on_cables_left"];
  EXPECT_GT(left["time_s"], 1.2 * left["intact_time_s"].get<double>()) << outcome.err;
}

TEST(SimCut, WhatIsLeftLacksOnlyTheCutCables) {
  const Outcome late = run_sim(
      {"--topology", "ring:4", "--workload", "all_reduce:16MiB", "--fail", "cable:c0@1ms", "--fail", "cable:c2@900ms"});
  EXPECT_EQ(late.exit_status, kDone);
  EXPECT_THAT(late.out, HasSubstr("on the cables left the whole job takes"));
  const Outcome both = run_sim(
      {"--topology", "ring:4", "--workload", "all_reduce:16MiB", "--fail", "cable:c0@1ms", "--fail", "cable:c2@1ms"});
  EXPECT_EQ(both.exit_status, kJobEnded);
  EXPECT_THAT(both.out, HasSubstr("on the cables left the job cannot run"));
}

sim::CutEffect::HitFlow flow_over(std::vector<CableIndex> cables, std::vector<NodeIndex> nodes) {
  return {0, {0, 1, 0, {std::move(cables), std::move(nodes)}}, {}};
}

SimReport report_of_a_ring() {
  SimReport report{routing::sample_topology(4, routing::ring_pairs(4)), "", "", "", "", {}, {}, {}, "", {}, 0};
  report.prediction.groups.emplace_back();
  return report;
}

sim::FlowReroute reroute_at(Instant when, Duration pause) {
  sim::FlowReroute reroute;
  reroute.when = when;
  reroute.pause = pause;
  return reroute;
}

TEST(SimCut, IsSummedUpByTheFlowsThatWentOn) {
  SimReport report = report_of_a_ring();
  sim::CutEffect effect;
  EXPECT_EQ(hit_summary(report, effect), "0 flows crossed it");
  effect.hit = {flow_over({CableIndex{0}}, {NodeIndex{0}, NodeIndex{1}})};
  EXPECT_EQ(hit_summary(report, effect), "1 flow crossed it, none had anything left to send");
  report.prediction.early_end.emplace();
  EXPECT_EQ(hit_summary(report, effect), "1 flow crossed it, none had gone on when the job ended");
  effect.hit.push_back(effect.hit[0]);
  effect.hit[0].reroute = reroute_at(Instant{20ms}, 0ms);
  EXPECT_EQ(hit_summary(report, effect), "2 flows crossed it, 1 went on over another path without a pause");
  EXPECT_FALSE(pause_span(effect).has_value());
  effect.hit[0].reroute = reroute_at(Instant{20ms}, 4200us);
  EXPECT_EQ(hit_summary(report, effect), "2 flows crossed it, 1 went on over another path after at most 4.2 ms");
  effect.hit[1].reroute = reroute_at(Instant{21ms}, 5300us);
  EXPECT_EQ(hit_summary(report, effect), "2 flows crossed it, all went on over another path after at most 5.3 ms");
  const std::optional<PauseSpan> span = pause_span(effect);
  EXPECT_EQ(span->begin, Instant{15'700us});
  EXPECT_EQ(span->end, Instant{21ms});
  EXPECT_EQ(span->longest, 5300us);
}

TEST(SimCut, NamesAFlowWithItsPathsAndPause) {
  const SimReport report = report_of_a_ring();
  sim::CutEffect::HitFlow hit = flow_over({CableIndex{0}}, {NodeIndex{0}, NodeIndex{1}});
  EXPECT_EQ(hit_flow_text(report, hit), "rank 0 on n0 -> rank 1 on n1, channel 0");
  hit.reroute.emplace().pause = std::chrono::milliseconds(4);
  hit.reroute->path.nodes = {NodeIndex{0}, NodeIndex{3}, NodeIndex{2}, NodeIndex{1}};
  EXPECT_EQ(hit_flow_text(report, hit), "rank 0 on n0 -> rank 1 on n1, channel 0: after 4 ms through n3, n2");
  hit.reroute->path.nodes = {NodeIndex{0}, NodeIndex{1}};
  EXPECT_EQ(hit_flow_text(report, hit), "rank 0 on n0 -> rank 1 on n1, channel 0: after 4 ms over another cable");
  hit.reroute->pause = Duration{0};
  EXPECT_EQ(hit_flow_text(report, hit),
            "rank 0 on n0 -> rank 1 on n1, channel 0: without a pause, as it had nothing to send, over another cable");
}

}  // namespace
}  // namespace cableway::cli
