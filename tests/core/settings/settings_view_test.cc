#include "core/settings/settings_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/settings/settings_table.h"

namespace cableway {
namespace {

using ::testing::HasSubstr;

Settings sample() {
  Settings settings;
  settings.node = "n0";
  settings.ports = {*parse_port_selector("eth1"), *parse_port_selector("10.7.0.0/16")};
  settings.key_file = "/etc/\xff";
  settings.origins = {{"node", "CABLEWAY_NODE"}, {"ports", "c.toml:3"}, {"key_file", "--key-file"}};
  return settings;
}

TEST(SettingsView, ShowsTheOriginOfEachSetting) {
  const std::string text = describe_settings(sample(), {"ports: no cable"}, ViewFormat::kText);
  EXPECT_THAT(text, HasSubstr("\nnode                n0                CABLEWAY_NODE\n"));
  EXPECT_THAT(text, HasSubstr("\nports               eth1,10.7.0.0/16  c.toml:3\n"));
  EXPECT_THAT(text, HasSubstr("\nlog_file            -                 default\n"));
  EXPECT_THAT(text, HasSubstr("\nhold_ms             1000              default\n"));
  EXPECT_TRUE(text.ends_with("\nwarning: ports: no cable\n")) << text;
}

TEST(SettingsView, IsJsonWithTypes) {
  const nlohmann::json view =
      nlohmann::json::parse(describe_settings(sample(), {"ports: no cable"}, ViewFormat::kJson));
  EXPECT_EQ(view["schema"], 1);
  EXPECT_EQ(view["warnings"], nlohmann::json{"ports: no cable"});
  const nlohmann::json& settings = view["settings"];
  EXPECT_EQ(settings.size(), all_settings().size());
  EXPECT_EQ(settings["node"], (nlohmann::json{{"value", "n0"}, {"from", "CABLEWAY_NODE"}}));
  EXPECT_EQ(settings["ports"]["value"], (nlohmann::json{"eth1", "10.7.0.0/16"}));
  EXPECT_EQ(settings["relay_port"], (nlohmann::json{{"value", 7470}, {"from", "default"}}));
  EXPECT_EQ(settings["drain"]["value"], false);
  EXPECT_EQ(settings["data_ports"]["value"], "0");
  EXPECT_EQ(settings["log_file"]["value"], nullptr);
  EXPECT_EQ(settings["key_file"]["from"], "--key-file");
}

}  // namespace
}  // namespace cableway
