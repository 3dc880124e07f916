#include "core/settings/settings_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace cableway {
namespace {

std::vector<std::string> documented_rows() {
  std::ifstream file(CABLEWAY_SETTINGS_DOC);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `CABLEWAY_")) rows.push_back(line);
  }
  return rows;
}

// The row of docs/settings.md.
std::string documentation_row(const Setting& setting) {
  const std::string note(setting.default_note);
  const std::string default_value = note.empty() ? "`" + setting.show(Settings{}) + "`" : note;
  return "| `" + variable_of(setting) + "` | " + default_value + " | " + expected_of(setting) + " | " +
         std::string(setting.meaning) + " |";
}

TEST(SettingsTable, MatchesTheDocumentation) {
  std::vector<std::string> rows;
  for (const Setting& setting : all_settings()) rows.push_back(documentation_row(setting));
  EXPECT_EQ(documented_rows(), rows) << "docs/settings.md and core/settings/settings_table.cc differ";
}

TEST(SettingsTable, TheDocumentationNamesWhatNeedsNoRestart) {
  std::ifstream file(CABLEWAY_SETTINGS_DOC);
  std::string sentence;
  for (std::string line; sentence.empty() && std::getline(file, line);) {
    if (line.starts_with("On `SIGHUP`")) sentence = line;
  }
  ASSERT_NE(sentence, "");
  for (const Setting& setting : all_settings()) {
    const bool named = sentence.find("`" + std::string(setting.key) + "`") != std::string::npos;
    EXPECT_EQ(named, setting.reloads) << setting.key;
  }
}

// NCCL takes everything behind "=" in its files for the value, and a line for a comment only if it begins with "#".
TEST(SettingsTable, TheDocumentedLinesOfNcclsFileHaveNoCommentBehindThem) {
  std::ifstream file(CABLEWAY_SETTINGS_DOC);
  std::vector<std::string> lines;
  bool is_nccl_file = false;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      is_nccl_file = is_nccl_file && inside;
    } else if (!inside) {
      is_nccl_file = line.find("/etc/nccl.conf") != std::string::npos || (is_nccl_file && line.empty());
    } else if (is_nccl_file && !line.starts_with("#")) {
      lines.push_back(line);
    }
  }
  EXPECT_EQ(lines, std::vector<std::string>{"NCCL_ENV_PLUGIN=libnccl-net-cableway.so"});
}

TEST(SettingsTable, NamesEachSettingOnce) {
  std::set<std::string> variables;
  for (const Setting& setting : all_settings()) {
    EXPECT_TRUE(variables.insert(variable_of(setting)).second) << setting.key;
    EXPECT_EQ(find_setting(setting.key), &setting);
  }
  EXPECT_EQ(find_setting("nod"), nullptr);
  EXPECT_EQ(find_setting(""), nullptr);
}

TEST(SettingsTable, SpellsVariablesAndOptions) {
  EXPECT_EQ(variable_of(*find_setting("relay_port")), "CABLEWAY_RELAY_PORT");
  EXPECT_EQ(option_of(*find_setting("relay_port")), "--relay-port");
}

TEST(SettingsTable, AcceptsEveryDefaultThatItShows) {
  const Settings defaults;
  for (const Setting& setting : all_settings()) {
    const std::string value = setting.show(defaults);
    if (value.empty()) continue;
    Settings settings;
    EXPECT_FALSE(setting.set(setting, value, settings)) << setting.key << " does not accept its default " << value;
    EXPECT_EQ(setting.show(settings), value);
  }
}

}  // namespace
}  // namespace cableway
