#include "tools/cableway/doctor/finding_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/event/event_code.h"
#include "tests/documentation_table.h"

namespace cableway::cli {
namespace {

TEST(FindingCode, TheTableMatchesTheDocumentation) {
  std::vector<std::string> rows;
  for (const FindingKind& kind : finding_kinds()) {
    rows.push_back("| `" + std::string(kind.name) + "` | " + std::string(kind.meaning) + " | " +
                   std::string(kind.advice) + " |");
  }
  EXPECT_EQ(test::documented_rows(CABLEWAY_FINDINGS_DOC, "| code | meaning | what to do |"), rows)
      << "docs/findings.md and tools/cableway/doctor/finding_code.cc differ";
}

TEST(FindingCode, CodesAreUniqueAndDifferFromEventCodes) {
  std::set<std::string_view> names;
  for (const FindingKind& kind : finding_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_EQ(find_event_kind(kind.name), nullptr) << kind.name;
    EXPECT_TRUE(std::all_of(kind.name.begin(), kind.name.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || c == '_';
    })) << kind.name;
    EXPECT_EQ(name_of(kind.code), kind.name);
  }
}

}  // namespace
}  // namespace cableway::cli
