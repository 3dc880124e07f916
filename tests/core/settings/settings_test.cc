#include "core/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/event/event_code.h"
#include "core/settings/settings_table.h"

namespace cableway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Environment = std::map<std::string, std::string>;

absl::StatusOr<Settings> read(const Environment& environment, const std::string& host = "host7") {
  const auto get = [&](const char* name) {
    const auto entry = environment.find(name);
    return entry == environment.end() ? nullptr : entry->second.c_str();
  };
  return settings_from(get, host);
}

std::string error_of(const Environment& environment, const std::string& host = "host7") {
  const absl::Status status = read(environment, host).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(Settings, HaveDefaults) {
  for (const Environment& environment : {Environment{}, Environment{{"CABLEWAY_NODE", ""}, {"CABLEWAY_LOG", ""}}}) {
    const absl::StatusOr<Settings> settings = read(environment);
    ASSERT_TRUE(settings.ok()) << settings.status();
    EXPECT_EQ(settings->node, "host7");
    EXPECT_EQ(settings->cluster, "cableway");
    EXPECT_EQ(settings->runtime_dir, "default");
    EXPECT_EQ(settings->log_level, "info");
    EXPECT_EQ(settings->daemon, "");
    EXPECT_EQ(settings->linger, std::chrono::seconds(30));
    EXPECT_EQ(settings->rdma_timeout, 18);
    EXPECT_EQ(settings->rdma_retries, 6);
  }
}

TEST(Settings, AreReadFromTheirVariables) {
  const absl::StatusOr<Settings> settings = read({{"CABLEWAY_NODE", "n1.rack-2_b"},
                                                  {"CABLEWAY_CLUSTER", "lab"},
                                                  {"CABLEWAY_RUNTIME_DIR", "/run/x"},
                                                  {"CABLEWAY_LOG", "warning"},
                                                  {"CABLEWAY_DAEMON", "/opt/cablewayd"},
                                                  {"CABLEWAY_LINGER", "0"}});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->node, "n1.rack-2_b");
  EXPECT_EQ(settings->cluster, "lab");
  EXPECT_EQ(settings->runtime_dir, "/run/x");
  EXPECT_EQ(settings->log_level, "warning");
  EXPECT_EQ(settings->daemon, "/opt/cablewayd");
  EXPECT_EQ(settings->linger, std::chrono::seconds(0));
}

TEST(Settings, RefuseAnInvalidName) {
  EXPECT_THAT(error_of({{"CABLEWAY_NODE", "a b"}}),
              AllOf(HasSubstr("CABLEWAY_NODE is \"a b\""), HasSubstr("expected 1 to 63 letters")));
  EXPECT_THAT(error_of({{"CABLEWAY_NODE", std::string(64, 'n')}}), HasSubstr("CABLEWAY_NODE"));
  EXPECT_TRUE(read({{"CABLEWAY_NODE", std::string(63, 'n')}}).ok());
  // The host's name replaces the variable; the error names the variable to set.
  EXPECT_THAT(error_of({}, ""), HasSubstr("CABLEWAY_NODE is \"\""));
}

TEST(Settings, AcceptAFolderAndAGroupForSessions) {
  for (const char* folder : {"/run/cableway", "/s"}) EXPECT_TRUE(read({{"CABLEWAY_SESSION_DIR", folder}}).ok());
  for (const std::string& folder : {std::string("/"), std::string("run/cableway"), std::string("/run/"),
                                    std::string("/a b"), "/" + std::string(80, 'f')}) {
    EXPECT_THAT(error_of({{"CABLEWAY_SESSION_DIR", folder}}), HasSubstr("expected an absolute path")) << folder;
  }
  for (const char* group : {"cableway", "100", "*"}) EXPECT_TRUE(read({{"CABLEWAY_SESSION_GROUP", group}}).ok());
  for (const std::string& group : {std::string("a b"), std::string("a:b"), std::string(33, 'g')}) {
    EXPECT_THAT(error_of({{"CABLEWAY_SESSION_GROUP", group}}), HasSubstr("expected a group's name or number")) << group;
  }
}

TEST(Settings, AcceptMemoryInBytesAndInUnits) {
  for (const auto& [text, bytes] : {std::pair<const char*, std::uint64_t>{"1048576", 1ULL << 20},
                                    {"1024K", 1ULL << 20},
                                    {"1M", 1ULL << 20},
                                    {"3G", 3ULL << 30},
                                    {"1024G", 1ULL << 40},
                                    {"1500000", 1500000}}) {
    const absl::StatusOr<Settings> settings = read({{"CABLEWAY_RELAY_MEMORY", text}});
    ASSERT_TRUE(settings.ok()) << settings.status();
    EXPECT_EQ(settings->relay_memory, bytes) << text;
  }
  for (const char* text : {"1048575", "1023K", "0M", "-1G", "1025G", "1T", "1g", "G", "1.5G", "1 G", "1GG",
                           "9223372036854775807G", "much"}) {
    EXPECT_THAT(error_of({{"CABLEWAY_RELAY_MEMORY", text}}),
                AllOf(HasSubstr(std::string("CABLEWAY_RELAY_MEMORY is \"") + text), HasSubstr("1M to 1024G")))
        << text;
  }
}

TEST(Settings, LogLevelsAreTheNamesOfSeverities) {
  const auto& choices = find_setting("log")->choices;
  ASSERT_EQ(choices.size(), kEventSeverities);
  for (std::size_t i = 0; i < kEventSeverities; ++i) {
    const std::string name(name_of(static_cast<EventSeverity>(i)));
    EXPECT_EQ(choices[i], name);
    EXPECT_TRUE(read({{"CABLEWAY_LOG", name}}).ok()) << name;
  }
}

TEST(Settings, TakeWarnAsWarning) {
  const absl::StatusOr<Settings> settings = read({{"CABLEWAY_LOG", "warn"}});
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_EQ(settings->log_level, "warning");
}

TEST(Settings, RefuseAnInvalidLogLevel) {
  EXPECT_EQ(error_of({{"CABLEWAY_LOG", "loud"}}),
            "CABLEWAY_LOG is \"loud\"; expected debug, info, warning (or warn), error");
  EXPECT_EQ(error_of({{"CABLEWAY_LOG", "trace"}}),
            "CABLEWAY_LOG is \"trace\"; expected debug, info, warning (or warn), error");
}

TEST(Settings, SuggestTheNearestOfAFewValues) {
  const std::vector<std::tuple<const char*, const char*, const char*>> mistakes = {
      {"CABLEWAY_LOG", "warnings", "warning"},
      {"CABLEWAY_LOG", "WARNING", "warning"},
      {"CABLEWAY_LOG", "eror", "error"},
      {"CABLEWAY_TRANSPORT", "verb", "verbs"},
      {"CABLEWAY_DRAIN", "True", "true"}};
  for (const auto& [variable, value, nearest] : mistakes) {
    EXPECT_THAT(error_of({{variable, value}}),
                HasSubstr(absl::StrCat(variable, " is \"", value, "\" (did you mean \"", nearest, "\"?); expected ")));
  }
  EXPECT_THAT(error_of({{"CABLEWAY_LINGER", "30s"}}), Not(HasSubstr("did you mean")));
}

TEST(Settings, RefuseAnInvalidLinger) {
  EXPECT_TRUE(read({{"CABLEWAY_LINGER", "86400"}}).ok());
  for (const char* linger : {"86401", "-1", "soon", "1.5", "99999999999"}) {
    EXPECT_THAT(error_of({{"CABLEWAY_LINGER", linger}}),
                AllOf(HasSubstr(std::string("CABLEWAY_LINGER is \"") + linger), HasSubstr("seconds, 0 to 86400")));
  }
}

TEST(CheckNames, AcceptsEverySetting) {
  const char* const environment[] = {
      "PATH=/bin",         "CABLEWAY_NODE=n0",  "CABLEWAY_CLUSTER=c", "CABLEWAY_RUNTIME_DIR=r", "CABLEWAY_PORTS=p",
      "CABLEWAY_LOG=info", "CABLEWAY_DAEMON=d", "CABLEWAY_LINGER=1",  "CABLEWAYS=not ours",     nullptr};
  EXPECT_TRUE(check_names(environment).ok());
}

TEST(CheckNames, NamesAnUnknownVariable) {
  const char* const environment[] = {"CABLEWAY_NODE=n0", "CABLEWAY_PORT=x", nullptr};
  const absl::Status status = check_names(environment);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("unknown setting CABLEWAY_PORT (did you mean CABLEWAY_PORTS?); "), HasSubstr("CABLEWAY_LINGER")));
  const char* const longer[] = {"CABLEWAY_NODES=n0", nullptr};
  EXPECT_THAT(std::string(check_names(longer).message()),
              HasSubstr("unknown setting CABLEWAY_NODES (did you mean CABLEWAY_NODE?); "));
  const char* const other[] = {"CABLEWAY_COLOUR=red", nullptr};
  EXPECT_THAT(std::string(check_names(other).message()), HasSubstr("unknown setting CABLEWAY_COLOUR; "));
}

}  // namespace
}  // namespace cableway
