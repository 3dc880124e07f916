#include "tools/cableway/doctor/code_default.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/documentation_table.h"

namespace cableway::cli {
namespace {

TEST(CodeDefault, TheDeviationsMatchTheDocumentation) {
  std::vector<std::string> rows;
  for (const GradeDeviation& each : grade_deviations()) {
    rows.push_back("| `" + std::string(name_of(each.code)) + "` | " +
                   std::string(name_of(kind_of(each.code).severity)) + " | " + std::string(name_of(each.grade)) +
                   " | " + std::string(each.reason) + " |");
  }
  EXPECT_EQ(test::documented_rows(CABLEWAY_FINDINGS_DOC, "| code | event | finding | why |"), rows)
      << "docs/findings.md and tools/cableway/doctor/code_default.cc differ";
}

TEST(CodeDefault, OtherGradesAreTheSeveritiesOfEvents) {
  for (const EventKind& kind : event_kinds()) {
    bool deviates = false;
    for (const GradeDeviation& each : grade_deviations()) deviates = deviates || each.code == kind.code;
    const bool is_same = name_of(grade_of(kind.code)) == name_of(kind.severity);
    const bool is_debug = kind.severity == EventSeverity::kDebug;
    EXPECT_NE(is_same, deviates || is_debug) << kind.name;
    EXPECT_EQ(grade_of(kind.name), grade_of(kind.code));
  }
  EXPECT_EQ(grade_of(EventCode::kSetupArrived), Severity::kInfo);
}

// Or an attacker on a cable could make doctor report an error.
TEST(CodeDefault, WhatAPeerCanFeignIsNoError) {
  for (const EventCode code :
       {EventCode::kVersionDiffers, EventCode::kClusterDiffers, EventCode::kKeyDiffers, EventCode::kNameTaken,
        EventCode::kCableRefused, EventCode::kLinkLocalUsed, EventCode::kLargePacketsLost, EventCode::kSegmentCrowded,
        EventCode::kHoldTooLong, EventCode::kNameDefended, EventCode::kAdvertisementRefused, EventCode::kCableLeftOut,
        EventCode::kTopologyCrowded}) {
    EXPECT_EQ(grade_of(code), Severity::kWarning) << name_of(code);
  }
}

TEST(CodeDefault, AnUnknownCodeIsAWarning) {
  EXPECT_EQ(grade_of("OF_A_LATER_VERSION"), Severity::kWarning);
  EXPECT_EQ(grade_of("NODE_ANSWERS"), Severity::kWarning) << "no event";
}

TEST(CodeDefault, ADashIsNoAdvice) {
  EXPECT_EQ(advice_of(EventCode::kCableUp), "");
  EXPECT_EQ(advice_of(FindingCode::kNodeAnswers), "");
  EXPECT_EQ(advice_of(FindingCode::kRdmaDeviceUnused), "CABLEWAY_TRANSPORT=auto uses it");
  EXPECT_EQ(meaning_of(FindingCode::kKeyReadable), "the key file holds a key");
}

}  // namespace
}  // namespace cableway::cli
