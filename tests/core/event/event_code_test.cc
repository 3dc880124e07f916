#include "core/event/event_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/documentation_table.h"

namespace cableway {
namespace {

TEST(EventCode, MatchesTheDocumentation) {
  std::vector<std::string> rows;
  for (const EventKind& kind : event_kinds()) {
    rows.push_back("| `" + std::string(kind.name) + "` | " + std::string(name_of(kind.severity)) + " | " +
                   std::string(kind.meaning) + " | " + std::string(kind.advice) + " |");
  }
  EXPECT_EQ(test::documented_rows(CABLEWAY_FINDINGS_DOC, "| code | severity | meaning | what to do |"), rows)
      << "docs/findings.md and core/event/event_code.cc differ";
}

TEST(EventCode, NamesAreUniqueAndUpperSnakeCase) {
  std::set<std::string_view> names;
  for (const EventKind& kind : event_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_TRUE(std::all_of(kind.name.begin(), kind.name.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || c == '_';
    })) << kind.name;
    EXPECT_EQ(find_event_kind(kind.name), &kind);
    EXPECT_EQ(name_of(kind.code), kind.name);
  }
  EXPECT_EQ(names.size(), kEventCodes);
  EXPECT_EQ(find_event_kind("CABLE"), nullptr);
  EXPECT_EQ(find_event_kind(""), nullptr);
}

// So that CABLEWAY_LOG=warning shows losses, and no refusals, which any peer can cause.
TEST(EventCode, LossesAreWarningsAndRefusalsAreInfos) {
  for (const EventCode code : {EventCode::kCircuitBroken, EventCode::kCircuitLost, EventCode::kCableLost,
                               EventCode::kKeyMissing, EventCode::kFlowFailed}) {
    EXPECT_EQ(kind_of(code).severity, EventSeverity::kWarning) << name_of(code);
  }
  for (const EventCode code : {EventCode::kCircuitEnded, EventCode::kTopologyChanged, EventCode::kNeighbourLeft,
                               EventCode::kCircuitRefused, EventCode::kConnectionRefused, EventCode::kSessionRefused}) {
    EXPECT_EQ(kind_of(code).severity, EventSeverity::kInfo) << name_of(code);
  }
}

TEST(EventSeverityName, SurvivesARoundTrip) {
  for (const char* name : {"debug", "info", "warning", "error"}) {
    ASSERT_TRUE(parse_event_severity(name).has_value()) << name;
    EXPECT_EQ(name_of(*parse_event_severity(name)), name);
  }
  EXPECT_FALSE(parse_event_severity("warn").has_value());
  EXPECT_LT(EventSeverity::kDebug, EventSeverity::kError);
}

}  // namespace
}  // namespace cableway
