#include "core/linux/files/settings_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/settings/settings_file.h"
#include "tests/core/linux/temporary_folder.h"

namespace cableway::host {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SettingsReader : public ::testing::Test {
 protected:
  absl::StatusOr<Settings> read(const std::vector<std::string>& environment, std::vector<GivenSetting> options = {}) {
    std::vector<const char*> entries;
    for (const std::string& entry : environment) entries.push_back(entry.c_str());
    entries.push_back(nullptr);
    return read_settings({.environment = entries.data(),
                          .host_name = "host7",
                          .options = std::move(options),
                          .default_file = folder_.path("default.toml")});
  }

  std::string error_of(const std::vector<std::string>& environment) {
    const absl::Status status = read(environment).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  const test::TemporaryFolder folder_;
};

TEST_F(SettingsReader, DoesNotRequireTheDefaultFile) {
  const absl::StatusOr<Settings> settings = read({"PATH=/bin"});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->config, "");
  EXPECT_EQ(settings->node, "host7");
  EXPECT_TRUE(settings->origins.empty());
}

TEST_F(SettingsReader, ReadsTheDefaultFile) {
  const std::string path = folder_.file("default.toml", "\nnode = \"n5\"\n");
  const absl::StatusOr<Settings> settings = read({"CABLEWAY_CONFIG="});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->config, path);
  EXPECT_EQ(settings->node, "n5");
  EXPECT_EQ(settings->origins.at("node"), path + ":2");
  EXPECT_FALSE(settings->origins.contains("config"));
}

TEST_F(SettingsReader, ReadsANamedFileInsteadOfTheDefaultFile) {
  folder_.file("default.toml", "node = \"n5\"\n");
  const std::string named = folder_.file("named.toml", "log = \"warning\"\n");
  const std::string other = folder_.file("other.toml", "log = \"error\"\n");
  absl::StatusOr<Settings> settings = read({"CABLEWAY_CONFIG=" + named, "CABLEWAY_NODE=n6"});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->node, "n6");
  EXPECT_EQ(settings->log_level, "warning");
  EXPECT_EQ(settings->origins.at("config"), "CABLEWAY_CONFIG");
  settings = read({"CABLEWAY_CONFIG=" + named}, {{.key = "config", .value = other, .origin = "--config"}});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->config, other);
  EXPECT_EQ(settings->log_level, "error");
  EXPECT_EQ(settings->node, "host7");
}

TEST_F(SettingsReader, DevNullStandsForNoFile) {
  folder_.file("default.toml", "node = \"n5\"\n");
  const absl::StatusOr<Settings> settings = read({"CABLEWAY_CONFIG=/dev/null"});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->node, "host7");
}

TEST_F(SettingsReader, ANamedFileMustExistAndBeARegularFile) {
  EXPECT_THAT(error_of({"CABLEWAY_CONFIG=" + folder_.path("none.toml")}),
              AllOf(StartsWith("CABLEWAY_CONFIG names the settings file"), HasSubstr("none.toml\", which"),
                    HasSubstr("No such file")));
  EXPECT_THAT(error_of({"CABLEWAY_CONFIG=" + folder_.path("")}), HasSubstr("expected a regular file"));
  // Opening it would block.
  const std::string pipe = folder_.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(error_of({"CABLEWAY_CONFIG=" + pipe}), HasSubstr("expected a regular file"));
}

TEST_F(SettingsReader, AnExistingDefaultFileMustBeValid) {
  const std::string path = folder_.file("default.toml", "x = 1");
  EXPECT_THAT(error_of({}), StartsWith(path + ":1: unknown key \"x\""));
  folder_.file("default.toml", std::string(kMaxSettingsFileBytes + 1, '\n'));
  EXPECT_THAT(error_of({}), HasSubstr("expected at most 65536"));
}

TEST_F(SettingsReader, RejectsMisspelledVariables) {
  EXPECT_THAT(error_of({"CABLEWAY_NOED=n0"}), HasSubstr("unknown setting CABLEWAY_NOED"));
  EXPECT_THAT(error_of({"CABLEWAY_LOG_FILE=/x", "CABLEWAY_LOG=loud"}), StartsWith("CABLEWAY_LOG is \"loud\""));
}

}  // namespace
}  // namespace cableway::host
