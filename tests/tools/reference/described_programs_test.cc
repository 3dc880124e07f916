#include "tools/reference/described_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "core/settings/settings_table.h"

namespace cableway::reference {
namespace {

using ::testing::ElementsAre;

const cli::Argument& argument_named(const cli::Command& command, const std::string& name) {
  const auto found = std::find_if(command.arguments.begin(), command.arguments.end(),
                                  [&](const cli::Argument& argument) { return argument.name() == name; });
  EXPECT_NE(found, command.arguments.end()) << name;
  return *found;
}

TEST(DescribedTest, TakesOptionsFromTheParser) {
  const std::vector<cli::ExitMeaning> statuses = {{0, "done"}, {1, "not, or 5 times; not"}, {2, "no"}};
  CLI::App app("thing - Does it.\nFor a test.", "thing");
  app.footer("See also.\n\n" + routing::exit_line(statuses));
  int level = 3;
  std::string mode;
  bool all = false;
  std::vector<std::string> files;
  app.add_option("--level,-l", level, "How much")->check(CLI::Range(1, 9))->envname("LEVEL")->capture_default_str();
  app.add_option("--mode", mode, "How")->check(CLI::IsMember({"fast", "slow"}));
  app.add_flag("!--none", all, "Nothing");
  app.add_option("--in", files, "Input")->type_name("FILE")->delimiter(',');
  const cli::Command command = described(app, statuses);
  EXPECT_EQ(command.summary, "does it");
  EXPECT_EQ(command.notes, "For a test.\n\nSee also.");
  ASSERT_EQ(command.exit_statuses.size(), 3U);
  EXPECT_EQ(command.exit_statuses[1].meaning, "not, or 5 times; not");
  EXPECT_EQ(argument_named(command, "--help").names, "--help,-h");
  const cli::Argument& number = argument_named(command, "--level");
  EXPECT_EQ(number.names, "--level,-l");
  EXPECT_EQ(number.value, "1..9");
  EXPECT_EQ(number.default_value, "3");
  EXPECT_EQ(number.meaning, "How much. Environment: LEVEL");
  EXPECT_THAT(argument_named(command, "--mode").choices, ElementsAre("fast", "slow"));
  EXPECT_EQ(argument_named(command, "--none").kind, cli::Argument::Kind::kFlag);
  EXPECT_EQ(argument_named(command, "--in").naming, cli::Argument::Names::kFiles);
}

TEST(DescribedTest, TheDaemonHasAnOptionForEverySetting) {
  const cli::Command command = cablewayd_command();
  for (const Setting& setting : all_settings()) {
    const cli::Argument& argument = argument_named(command, option_of(setting));
    EXPECT_EQ(argument.choices.size(), setting.choices.size()) << setting.key;
    EXPECT_EQ(argument.naming == cli::Argument::Names::kFiles, setting.form == Setting::Form::kFile) << setting.key;
  }
  EXPECT_EQ(command.exit_statuses.size(), 3U);
}

TEST(DescribedTest, CollperfHasItsOptions) {
  const cli::Command command = collperf_command();
  EXPECT_EQ(command.name, "collperf");
  EXPECT_EQ(argument_named(command, "--plugin").naming, cli::Argument::Names::kFiles);
  EXPECT_EQ(argument_named(command, "--check").names, "--check,-c");
  EXPECT_EQ(command.exit_statuses.size(), 5U);
  // --launched is the program's own.
  for (const cli::Argument& argument : command.arguments) EXPECT_NE(argument.names, "--launched");
}

}  // namespace
}  // namespace cableway::reference
