#include "core/settings/settings_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/status/status.h"
#include "core/settings/settings_table.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Environment = std::map<std::string, std::string>;

absl::StatusOr<Settings> settings_of(const std::string& file, const Environment& environment = {},
                                     std::vector<GivenSetting> options = {}) {
  absl::StatusOr<std::vector<GivenSetting>> given = parse_settings_file(file, "c.toml");
  if (!given.ok()) return given.status();
  SettingSources sources;
  sources.environment = [&](const char* name) {
    const auto entry = environment.find(name);
    return entry == environment.end() ? nullptr : entry->second.c_str();
  };
  sources.host_name = "host7.example.org";
  sources.options = std::move(options);
  sources.file = *std::move(given);
  return settings_from(sources);
}

std::string error_of(const std::string& file) {
  const absl::Status status = settings_of(file).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << file << ": " << status;
  return std::string(status.message());
}

TEST(SettingsFile, ParsesEverySetting) {
  const absl::StatusOr<Settings> settings = settings_of(R"(
    node = "n1.rack-2"       # ünïcode in a comment is ignored
    cluster = "lab"
    ports = ["eth1", " 10.7.0.0/16", "fd00::/8"]
    runtime_dir = "/run/x"
    log = "warning"
    log_file = "/var/log/cableway/node.log"
    key_file = "/etc/cableway/key"
    daemon = "/opt/caf\u00e9/cablewayd"
    linger = 0
    relay_port = 1
    control_port = 65_535
    data_ports = "20000-20999"
    hello_ms = 0x32
    hold_ms = 150
    drain = true
    transport = "verbs"
    rdma_service_level = 3
    rdma_traffic_class = 106
    rdma_timeout = 16
    rdma_retries = 5
    relay_spin_us = 0
    relay_memory = "96M"
    cable_test = false
    expect = "/etc/cableway/expected.toml"
    path_wait = 7
    checksum = "on"
    preset = "off"
    tuner = "line"
    multipath = "bundle"
    pulse_port = 7777
    pulse_ms = 0
    session_dir = "/run/lab"
    session_group = "users"
    http = "[::1]:7473"
    http_token_file = "/etc/cableway/http_token"
  )");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->node, "n1.rack-2");
  EXPECT_EQ(settings->cluster, "lab");
  EXPECT_THAT(settings->ports, ElementsAre(*parse_port_selector("eth1"), *parse_port_selector("10.7.0.0/16"),
                                           *parse_port_selector("fd00::/8")));
  EXPECT_EQ(settings->runtime_dir, "/run/x");
  EXPECT_EQ(settings->log_level, "warning");
  EXPECT_EQ(settings->log_file, "/var/log/cableway/node.log");
  EXPECT_EQ(settings->key_file, "/etc/cableway/key");
  EXPECT_EQ(settings->daemon, "/opt/caf\xc3\xa9/cablewayd");
  EXPECT_EQ(settings->linger, std::chrono::seconds(0));
  EXPECT_EQ(settings->relay_port, 1);
  EXPECT_EQ(settings->control_port, 65535);
  EXPECT_EQ(settings->data_ports, (PortRange{20000, 20999}));
  EXPECT_EQ(settings->hello, std::chrono::milliseconds(50));
  EXPECT_EQ(settings->hold, std::chrono::milliseconds(150));
  EXPECT_EQ(settings->transport, TransportSetting::kVerbs);
  EXPECT_EQ(settings->rdma_service_level, 3);
  EXPECT_EQ(settings->rdma_traffic_class, 106);
  EXPECT_EQ(settings->rdma_timeout, 16);
  EXPECT_EQ(settings->rdma_retries, 5);
  EXPECT_EQ(settings->relay_spin, std::chrono::microseconds(0));
  EXPECT_TRUE(settings->drain);
  EXPECT_EQ(settings->relay_memory, 96U << 20);
  EXPECT_FALSE(settings->cable_test);
  EXPECT_EQ(settings->expect, "/etc/cableway/expected.toml");
  EXPECT_EQ(settings->path_wait, std::chrono::seconds(7));
  EXPECT_TRUE(settings->checksum);
  EXPECT_FALSE(settings->preset);
  EXPECT_EQ(settings->tuner, TunerSetting::kLine);
  EXPECT_EQ(settings->multipath, MultipathSetting::kBundle);
  EXPECT_EQ(settings->pulse_port, 7777);
  EXPECT_EQ(settings->pulse, std::chrono::milliseconds(0));
  EXPECT_EQ(settings->session_dir, "/run/lab");
  EXPECT_EQ(settings->session_group, "users");
  EXPECT_EQ(settings->http, (HttpAddress{"::1", 7473, true}));
  EXPECT_EQ(settings->http_token_file, "/etc/cableway/http_token");
  // All but `config`, which is not allowed in the file.
  EXPECT_EQ(settings->origins.size(), all_settings().size() - 1);
  EXPECT_EQ(settings->origins.at("node"), "c.toml:2");
  EXPECT_EQ(settings->origins.at("drain"), "c.toml:16");
}

TEST(SettingsFile, OptionsOverrideTheEnvironmentWhichOverridesTheFile) {
  const std::string file = "log = \"warning\"\nlinger = 7\nrelay_port = 9\n";
  const absl::StatusOr<Settings> settings =
      settings_of(file, {{"CABLEWAY_LOG", "debug"}, {"CABLEWAY_LINGER", "8"}, {"CABLEWAY_RELAY_PORT", ""}},
                  {{.key = "log", .value = "error", .origin = "--log"}});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->log_level, "error");
  EXPECT_EQ(settings->linger, std::chrono::seconds(8));
  EXPECT_EQ(settings->relay_port, 9);  // an empty variable counts as unset
  EXPECT_EQ(settings->node, "host7.example.org");
  EXPECT_THAT(settings->origins, ElementsAre(std::pair("linger", "CABLEWAY_LINGER"), std::pair("log", "--log"),
                                             std::pair("relay_port", "c.toml:3")));
}

TEST(SettingsFile, AListMayBeTextAndEmpty) {
  for (const char* file : {"ports = \"eth1 , eth2\"", "ports = [\"eth1\", \"eth2\"]", "ports = [\"eth1,eth2\"]"}) {
    const absl::StatusOr<Settings> settings = settings_of(file);
    ASSERT_TRUE(settings.ok()) << settings.status();
    EXPECT_EQ(settings->ports.size(), 2U);
  }
  for (const char* file : {"", "ports = []", "ports = \"\""}) {
    const absl::StatusOr<Settings> settings = settings_of(file);
    ASSERT_TRUE(settings.ok()) << settings.status();
    EXPECT_TRUE(settings->ports.empty());
  }
}

TEST(SettingsFile, ErrorNamesLineValueAndExpectation) {
  EXPECT_EQ(error_of("\n\nlog = \"loud\""),
            "c.toml:3: log is \"loud\"; expected debug, info, warning (or warn), error");
  EXPECT_EQ(
      error_of("node = 5"),
      "c.toml:1: node is the number 5; expected text in quotes: 1 to 63 letters, digits, '.', '_' or '-', the first "
      "neither '.' nor '-'");
  for (const char* name : {"..", ".n0", "-rf"}) {
    for (const std::string key : {"node", "cluster"}) {
      EXPECT_EQ(error_of(key + " = \"" + name + "\""),
                "c.toml:1: " + key + " is \"" + name +
                    "\"; expected 1 to 63 letters, digits, '.', '_' or '-', the first neither '.' nor '-'");
    }
  }
  EXPECT_THAT(error_of("ports = \"-rf\""), StartsWith("c.toml:1: ports is \"-rf\"; expected"));
  EXPECT_EQ(error_of("linger = 86401"), "c.toml:1: linger is \"86401\"; expected seconds, 0 to 86400");
  EXPECT_EQ(error_of("relay_port = \"80\""),
            "c.toml:1: relay_port is the text \"80\"; expected a TCP port, 1 to 65535");
  EXPECT_EQ(error_of("drain = 1"), "c.toml:1: drain is the number 1; expected true or false");
  EXPECT_THAT(error_of("ports = [\"eth1\", \"10.7.0.0/33\"]"),
              StartsWith("c.toml:1: ports is \"10.7.0.0/33\"; expected"));
  EXPECT_THAT(error_of("ports = [\"eth1\", \"\"]"), StartsWith("c.toml:1: ports is an array; expected"));
  EXPECT_THAT(error_of("ports = [1]"), StartsWith("c.toml:1: ports is an array; expected"));
  EXPECT_THAT(error_of("ports = \"eth1,,eth2\""), StartsWith("c.toml:1: ports is \"\"; expected"));
  EXPECT_THAT(error_of("[node]\nx = 1"), StartsWith("c.toml:1: node is a table; expected"));
  EXPECT_THAT(error_of("log_file = \"a\\u0000\""), StartsWith("c.toml:1: log_file is \"a\\x00\"; expected a path"));
  EXPECT_THAT(error_of("log_file = \"\""), StartsWith("c.toml:1: log_file is \"\"; expected a path"));
}

TEST(SettingsFile, ErrorNamesAnUnknownKeyAndTheKnownOnes) {
  EXPECT_THAT(error_of("cluster = \"c\"\nnod = \"n0\""),
              AllOf(StartsWith("c.toml:2: unknown key \"nod\" (did you mean \"node\"?) in the settings file; expected "
                               "one of node, cluster,"),
                    HasSubstr("drain")));
  EXPECT_THAT(error_of("config = \"other.toml\""), StartsWith("c.toml:1: unknown key \"config\""));
}

TEST(SettingsFile, DataPortsAreARange) {
  EXPECT_EQ(settings_of("data_ports = 0")->data_ports, PortRange{});
  EXPECT_EQ(settings_of("data_ports = \"9-9\"")->data_ports, (PortRange{9, 9}));
  for (const char* range : {"20000", "2-1", "0-5", "1-65536", "1-", "-1", "1-2-3", "1 - 2", "a-b", ""}) {
    EXPECT_THAT(error_of("data_ports = \"" + std::string(range) + "\""), HasSubstr("expected TCP ports")) << range;
  }
}

TEST(SettingsFile, ErrorNamesBothContradictingValues) {
  EXPECT_EQ(error_of("hello_ms = 334"),
            "hold_ms is 1000 (the default) and hello_ms is 334 (c.toml:1); expected hold_ms to be at least 3 times "
            "hello_ms, here 1002");
  EXPECT_TRUE(settings_of("hello_ms = 333").ok());
  EXPECT_THAT(error_of("data_ports = \"7000-8000\""),
              AllOf(HasSubstr("relay_port is 7470 (the default)"), HasSubstr("data_ports is 7000-8000 (c.toml:1)")));
  EXPECT_TRUE(settings_of("data_ports = \"7471-8000\"").ok());
}

TEST(SettingsFile, RefusesCharactersBeyondAsciiInValues) {
  EXPECT_THAT(error_of("log_file = \"/tmp/\xc3\xa9\""), StartsWith("c.toml:1: log_file has characters beyond ASCII"));
  EXPECT_THAT(error_of("ports = [\"eth1\",\n \"\xc3\xa9th2\"]"), StartsWith("c.toml:1: ports has characters beyond"));
  EXPECT_THAT(error_of("n\xc3\xb6"
                       "de = \"n0\""),
              StartsWith("c.toml:1: syntax error"));
  // After a value, and after a byte order mark, they are not part of a value.
  EXPECT_TRUE(settings_of("\xef\xbb\xbflog_file = \"/tmp/e\"#\xc3\xa9\n# \xc3\xa9").ok());
}

TEST(SettingsFile, IsBounded) {
  EXPECT_THAT(error_of(std::string(kMaxSettingsFileBytes + 1, '\n')), HasSubstr("expected at most 65536"));
  EXPECT_TRUE(settings_of(std::string(kMaxSettingsFileBytes, '\n')).ok());
  EXPECT_THAT(error_of("\n#" + std::string(kMaxSettingsFileLineBytes, 'x')), StartsWith("c.toml:2: the line has 1025"));
  std::string ports = "ports = [\n";
  for (int i = 0; i < 65; ++i) ports += "\"eth" + std::to_string(i) + "\",\n";
  EXPECT_THAT(error_of(ports + "]"), HasSubstr("expected at most 64 interfaces"));
}

}  // namespace
}  // namespace cableway
