// `--all` with a fake node here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/tools/cableway/command_run.h"
#include "tools/cableway/command/exit_status.h"
#include "tools/cableway/text/json.h"

namespace cableway::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AllNodesCommandTest, WhatHasComeByItsDeadlineIsShown) {
  const FakeNode node([](const std::string&) {
    return ClusterViewReply{"", 1, 5, false, {{"n9", NoView::kTimedOut, "no answer to the set-up", ""}}};
  });
  const Outcome outcome =
      run_command({"status", "--all"}, {.environment = {}, .deadline = std::chrono::milliseconds(500), .host = {}});
  EXPECT_EQ(outcome.exit_status, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("n9: timed out: no answer to the set-up"));
  EXPECT_THAT(outcome.out, HasSubstr("4 more nodes had not answered when this command's time was over"));
}

std::string status_of(int uptime_ms, int received) {
  return absl::StrCat(R"({"schema":1,"node":"n9","version":"1.2","uptime_ms":)", uptime_ms,
                      R"(,"draining":false,"draining_cables":[],"nodes":2,"cables_up":1,"neighbours":["n1"],)",
                      R"("problems":[],"own":{"flows_open":0},"relayed":{"circuits_open":0},"received_bytes":)",
                      received, R"(,"sent_bytes":0,"counted_ports":["eth0"]})");
}

TEST(AllNodesCommandTest, WatchedStatusHasBytesAndThenRates) {
  int asked = 0;
  const FakeNode node([&](const std::string& view) {
    if (view != "status" || ++asked > 2) return ClusterViewReply{"the node has ended", 0, 0, true, {}};
    const std::string document = asked == 1 ? status_of(1000, 1000) : status_of(2000, 126'000);
    return ClusterViewReply{"", 1, 1, true, {{"n9", NoView::kNone, "", document}}};
  });
  const Outcome outcome = run_command({"status", "--all", "--watch"});
  EXPECT_NE(outcome.exit_status, kDone) << "it ends with the node";
  EXPECT_THAT(outcome.err, HasSubstr("the node has ended"));
  const std::size_t second = outcome.out.find("in, Mbit/s");
  ASSERT_NE(second, std::string::npos) << outcome.out;
  EXPECT_THAT(outcome.out.substr(0, second), HasSubstr("1000 bytes"));
  EXPECT_THAT(outcome.out.substr(second), HasSubstr("  1.0  "));
}

std::string doctor_of(bool has_key) {
  return absl::StrCat(R"({"schema":1,"node":"n9","draining":false,"draining_cables":[],"has_key":)",
                      has_key ? "true" : "false", R"(,"problems":[],"lost_cables":{},"ports":[]})");
}

// A node whose key appears between the first time and the second; then it ends.
Outcome watched_doctor(std::vector<std::string> words) {
  int asked = 0;
  const FakeNode node([&](const std::string& view) {
    if (view != "doctor" || ++asked > 2) return ClusterViewReply{"the node has ended", 0, 0, true, {}};
    return ClusterViewReply{"", 1, 1, true, {{"n9", NoView::kNone, "", doctor_of(asked == 2)}}};
  });
  words.insert(words.begin(), {"doctor", "--all", "--watch"});
  Outcome outcome = run_command(words);
  EXPECT_NE(outcome.exit_status, kDone) << "it ends with the node";
  EXPECT_THAT(outcome.err, HasSubstr("the node has ended"));
  return outcome;
}

TEST(AllNodesCommandTest, WatchedDoctorShowsWhatIsFoundEachTime) {
  const std::string out = watched_doctor({}).out;
  const std::size_t first = out.find("1 of 1 nodes have answered: 0 errors, 0 warnings, 1 info\n");
  ASSERT_NE(first, std::string::npos) << out;
  EXPECT_THAT(out.substr(0, first), HasSubstr("KEY_MISSING"));
  EXPECT_THAT(out.substr(first), HasSubstr("1 of 1 nodes have answered: 0 errors, 0 warnings, 0 infos\n"));
  EXPECT_THAT(out.substr(first), Not(HasSubstr("KEY_MISSING")));
}

TEST(AllNodesCommandTest, WatchedDoctorHasOneDocumentALineAsJson) {
  const std::vector<std::string> lines = absl::StrSplit(watched_doctor({"--json"}).out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(Json::parse(lines[0]).at("worst"), "info");
  EXPECT_EQ(Json::parse(lines[1]).at("worst"), "ok");
}

TEST(AllNodesCommandTest, DoctorIsWatchedOfAllNodesOnly) {
  const Outcome outcome = run_command({"doctor", "--watch"});
  EXPECT_EQ(outcome.exit_status, kNotUsable);
  EXPECT_THAT(outcome.err, HasSubstr("--watch requires --all"));
}

}  // namespace
}  // namespace cableway::cli
