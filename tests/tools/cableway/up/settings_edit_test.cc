#include "tools/cableway/up/settings_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/settings/settings_sample.h"

namespace cableway::cli {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<SettingsEdit> edited(const std::string& text, const std::vector<WantedSetting>& wanted,
                                    bool force = false) {
  return edit_settings(text, "f.toml", wanted, force);
}

std::string text_after(const std::string& text, const std::vector<WantedSetting>& wanted, bool force = false) {
  const absl::StatusOr<SettingsEdit> edit = edited(text, wanted, force);
  return edit.ok() ? edit->text : edit.status().ToString();
}

TEST(SettingsEdit, ACommentedKeyIsSetBelowItsComment) {
  EXPECT_EQ(text_after("# a\n#node = \"x\"\n# b\n", {{"node", "n0"}}), "# a\n#node = \"x\"\nnode = \"n0\"\n# b\n");
  EXPECT_EQ(text_after("  # node= 1\r\n", {{"node", "n0"}}), "  # node= 1\r\nnode = \"n0\"\n");
}

TEST(SettingsEdit, AnAbsentKeyIsSetAtTheEnd) {
  EXPECT_EQ(text_after("", {{"node", "n0"}}), "node = \"n0\"\n");
  EXPECT_EQ(text_after("hello_ms = 1000", {{"ports", "a,b"}}), "hello_ms = 1000\nports = [\"a\", \"b\"]\n");
  // The key of another setting, or prose, is no comment of this one.
  EXPECT_EQ(text_after("#node_x = 1\n# the node = mine\n", {{"node", "n0"}}),
            "#node_x = 1\n# the node = mine\nnode = \"n0\"\n");
}

TEST(SettingsEdit, ASetKeyIsKept) {
  const std::string text = "ports = [\"a\",\n  'b']  # mine\n";
  const absl::StatusOr<SettingsEdit> edit = edited(text, {{"ports", "a,b"}});
  ASSERT_TRUE(edit.ok()) << edit.status();
  EXPECT_EQ(edit->text, text);
  EXPECT_TRUE(edit->changes.empty());
}

TEST(SettingsEdit, AnotherValueIsRefusedUnlessForced) {
  const std::string text = "hello_ms = 1000\nports = [\"a\",\n  # c\n  \"b\"]\nnode = \"x\"\n";
  const absl::StatusOr<SettingsEdit> refused = edited(text, {{"ports", "c"}});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("f.toml:2: ports is \"a,b\"; expected \"c\", or --force"));
  EXPECT_EQ(text_after(text, {{"ports", "c"}}, true), "hello_ms = 1000\nports = [\"c\"]\nnode = \"x\"\n");
}

TEST(SettingsEdit, ACommentWithinATextIsNone) {
  const std::string text = "log_file = '''/a\n#node = \"x\"\n'''\n";
  EXPECT_EQ(text_after(text, {{"node", "n0"}}), text + "node = \"n0\"\n");
}

TEST(SettingsEdit, AMalformedFileIsRefused) {
  EXPECT_THAT(text_after("node = \n", {{"node", "n0"}}), HasSubstr("f.toml:1: "));
  EXPECT_THAT(text_after("unknown = 1\n", {{"node", "n0"}}), HasSubstr("unknown"));
}

TEST(SettingsEdit, TheSampleTakesAll) {
  const std::vector<WantedSetting> wanted = {
      {"node", "n0"}, {"ports", "a,b"}, {"expect", "/e"}, {"key_file", "/k\\\"x"}};
  const absl::StatusOr<SettingsEdit> edit = edited(settings_sample(), wanted);
  ASSERT_TRUE(edit.ok()) << edit.status();
  EXPECT_EQ(edit->changes.size(), 4U);
  const absl::StatusOr<SettingsEdit> again = edited(edit->text, wanted);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->text, edit->text);
}

}  // namespace
}  // namespace cableway::cli
