// `--all` with a fake node here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/tools/cableway/command_run.h"
#include "tools/cableway/command/exit_status.h"

namespace cableway::cli {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace cableway::cli
