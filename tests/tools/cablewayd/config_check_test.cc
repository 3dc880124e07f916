#include "tools/cablewayd/config_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/core/linux/temporary_folder.h"

namespace cableway {
namespace {

using host::test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Settings sample() {
  Settings settings;
  settings.node = "n0";
  return settings;
}

std::string shown(const Settings& settings, const std::optional<std::vector<PortFacts>>& ports = std::nullopt) {
  const absl::StatusOr<std::string> view = check_config(settings, ports, ViewFormat::kText);
  EXPECT_TRUE(view.ok()) << view.status();
  return view.value_or("");
}

std::string error_of(const Settings& settings) {
  const absl::StatusOr<std::string> view = check_config(settings, std::nullopt, ViewFormat::kText);
  EXPECT_FALSE(view.ok()) << *view;
  return std::string(view.status().message());
}

TEST(ConfigCheck, ShowsValidSettingsWithoutAWarning) {
  EXPECT_THAT(shown(sample()), AllOf(HasSubstr("node                n0"), Not(HasSubstr("warning"))));
}

TEST(ConfigCheck, WarnsOfSelectorsThatMatchNoPort) {
  Settings settings = sample();
  settings.ports = {*parse_port_selector("eth1"), *parse_port_selector("eth7"), *parse_port_selector("10.7.0.0/16"),
                    *parse_port_selector("10.8.0.0/16")};
  PortFacts port;
  port.interface = "eth1";
  port.addresses = {{*routing::parse_port_address("10.7.0.1"), 24}};
  EXPECT_THAT(shown(settings, std::vector{port}),
              AllOf(HasSubstr("\nwarning: ports: \"eth7\" matches no interface of this host; available: eth1\n"),
                    HasSubstr("\nwarning: ports: \"10.8.0.0/16\" matches no interface"),
                    Not(HasSubstr("ports: \"eth1\"")), Not(HasSubstr("ports: \"10.7.0.0/16\""))));
  EXPECT_THAT(shown(settings, std::vector<PortFacts>{}), HasSubstr("available: none"));
  EXPECT_THAT(shown(settings), Not(HasSubstr("warning")));  // unknown ports cause no warning
}

TEST(ConfigCheck, ReadsTheKey) {
  const TemporaryFolder folder;
  Settings settings = sample();
  settings.key_file = folder.file("key", std::string(64, 'b'), 0600);
  EXPECT_THAT(shown(settings), Not(HasSubstr("warning")));
  settings.key_file = folder.file("open", std::string(64, 'b'), 0644);
  EXPECT_THAT(error_of(settings), HasSubstr("chmod 600"));
  settings.key_file = folder.path("none");
  EXPECT_THAT(error_of(settings), HasSubstr("No such file"));
}

TEST(ConfigCheck, WarnsOfUnusablePaths) {
  const TemporaryFolder folder;
  Settings settings = sample();
  settings.log_file = folder.path("new.log");
  settings.daemon = "/bin/sh";
  EXPECT_THAT(shown(settings), Not(HasSubstr("warning")));
  settings.log_file = folder.path("folders/that/are/made.log");
  EXPECT_THAT(shown(settings), Not(HasSubstr("warning")));
  settings.log_file = folder.file("no_folder", "", 0644) + "/new.log";
  settings.daemon = folder.file("daemon", "", 0644);
  EXPECT_THAT(shown(settings), AllOf(HasSubstr("warning: log_file: "), HasSubstr("Not a directory"),
                                     HasSubstr("warning: daemon: "), HasSubstr("Permission denied")));
  settings.log_file = folder.path("link.log");
  std::filesystem::create_symlink(folder.path("new.log"), settings.log_file);
  EXPECT_THAT(shown(settings), AllOf(HasSubstr("warning: log_file: "), HasSubstr("link.log\" is a symbolic link"),
                                     HasSubstr("; the node would log to standard error")));
}

TEST(ConfigCheck, RefusesSocketNamesThatAreTooLong) {
  Settings settings = sample();
  settings.cluster = std::string(63, 'c');
  settings.runtime_dir = std::string(80, 'r');
  EXPECT_THAT(error_of(settings), HasSubstr("CABLEWAY_RUNTIME_DIR and CABLEWAY_SESSION_DIR together are too long"));
}

TEST(ConfigCheck, RefusesAGroupThatDoesNotExist) {
  Settings settings = sample();
  settings.session_group = "no-such-group";
  EXPECT_THAT(error_of(settings), HasSubstr("CABLEWAY_SESSION_GROUP is \"no-such-group\""));
}

}  // namespace
}  // namespace cableway
