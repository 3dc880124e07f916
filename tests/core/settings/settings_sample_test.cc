#include "core/settings/settings_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/settings/setting_line.h"
#include "core/settings/settings_file.h"
#include "core/settings/settings_table.h"

namespace cableway {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> sample_lines() {
  return absl::StrSplit(settings_sample(), '\n');
}

// The line of that setting without its "#"; empty: there is none, or more than one.
std::string line_of(const Setting& setting) {
  const std::string start = absl::StrCat("#", std::string(setting.key), " = ");
  std::string found;
  for (const std::string& line : sample_lines()) {
    if (!absl::StartsWith(line, start)) continue;
    if (!found.empty()) return "";
    found = line.substr(1);
  }
  return found;
}

TEST(SettingsSampleTest, SetsNothing) {
  const auto given = parse_settings_file(settings_sample(), "sample.toml");
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_THAT(*given, IsEmpty());
}

TEST(SettingsSampleTest, HasALineForEverySettingOfAFile) {
  for (const Setting& setting : all_settings()) {
    if (setting.key == "config") continue;  // names the file itself
    const std::string line = line_of(setting);
    const auto given = parse_settings_file(line, "sample.toml");
    ASSERT_TRUE(given.ok()) << setting.key << ": " << given.status();
    ASSERT_THAT(*given, SizeIs(1)) << setting.key;
    EXPECT_EQ(given->front().key, setting.key);
    Settings settings;
    EXPECT_EQ(setting.set(setting, given->front().value, settings), std::nullopt) << line;
  }
}

TEST(SettingsSampleTest, ShowsTheDefaultsThatCanBeWrittenDown) {
  for (const Setting& setting : all_settings()) {
    const std::string otherwise = setting.show(Settings{});
    if (setting.key == "config" || otherwise.empty()) continue;
    Settings settings;
    const auto given = parse_settings_file(line_of(setting), "sample.toml");
    ASSERT_TRUE(given.ok() && given->size() == 1) << setting.key;
    EXPECT_EQ(given->front().value, otherwise) << setting.key;
  }
}

TEST(SettingsSampleTest, FitsTerminals) {
  for (const std::string& line : sample_lines()) EXPECT_LE(line.size(), 100U) << line;
}

TEST(SettingLine, IsReadAsItWasWritten) {
  const std::string path = "/a\\b\"c";
  const std::string text = absl::StrCat(setting_line(*find_setting("ports"), "eth1,eth2"), "\n",
                                        setting_line(*find_setting("log_file"), path), "\n");
  const auto given = parse_settings_file(text, "f.toml");
  ASSERT_TRUE(given.ok()) << given.status();
  ASSERT_THAT(*given, SizeIs(2));
  // In the order of the table of settings.
  EXPECT_EQ((*given)[0].value, "eth1,eth2");
  EXPECT_EQ((*given)[1].value, path);
}

}  // namespace
}  // namespace cableway
