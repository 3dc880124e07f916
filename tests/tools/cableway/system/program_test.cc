#include "tools/cableway/system/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace cableway::cli {
namespace {

using ::testing::HasSubstr;

TEST(Program, GivesStatusAndOutputs) {
  const ProgramEnd end = run_program({.words = {"sh", "-c", "cat; echo err >&2; exit 3"}, .input = "in"});
  EXPECT_EQ(end.exit_status, 3);
  EXPECT_EQ(end.out, "in");
  EXPECT_EQ(end.err, "err\n");
  EXPECT_FALSE(end.succeeded());
}

TEST(Program, ManyBytesPassBothWays) {
  const std::string input(1'000'000, 'x');
  EXPECT_EQ(run_program({.words = {"wc", "-c"}, .input = input}).out, "1000000\n");
  EXPECT_EQ(run_program({.words = {"sh", "-c", "head -c 1000000 /dev/zero"}}).out.size(), 65536U);
}

TEST(Program, OneThatReadsNothingEndsAsUsual) {
  EXPECT_TRUE(run_program({.words = {"true"}, .input = std::string(1'000'000, 'x')}).succeeded());
}

TEST(Program, ADeadlineEndsItAndItsChildren) {
  const auto begun = std::chrono::steady_clock::now();
  const ProgramCall call{
      .words = {"sh", "-c", "sleep 600 & sleep 600"}, .input = "", .deadline = std::chrono::seconds(1)};
  const ProgramEnd end = run_program(call);
  EXPECT_TRUE(end.timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
  EXPECT_THAT(failure_text(call, end), HasSubstr("did not end within 1 s"));
}

TEST(Program, AChildThatStaysKeepsNobodyWaiting) {
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(run_program({.words = {"sh", "-c", "sleep 20 & echo done"}}).out, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(15));
}

TEST(Program, OneThatIsMissingIsNamed) {
  const ProgramCall call{.words = {"cableway-no-such-program", "a b"}};
  const ProgramEnd end = run_program(call);
  EXPECT_EQ(end.exit_status, 127);
  EXPECT_THAT(failure_text(call, end), HasSubstr("cableway-no-such-program 'a b' failed with exit status 127: cannot"));
}

}  // namespace
}  // namespace cableway::cli
