// The table of scenarios in tests/README.md names tests that exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "tests/documentation_table.h"

namespace cableway::sim {
namespace {

using ::testing::HasSubstr;

const std::string kTests = CABLEWAY_TESTS;
constexpr const char* kHeading = "| scenario | what must hold | tests |";

std::string text_of(const std::string& file) {
  std::ifstream stream(kTests + "/" + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// As the file defines it: a case of gtest's, a method of unittest's, or a test's name as it is.
std::string definition_of(const std::string& test, const std::string& file) {
  const std::vector<std::string> words = absl::StrSplit(test, '.');
  if (absl::EndsWith(file, ".cc") && words.size() == 2) return "(" + words[0] + ", " + words[1] + ") {";
  if (absl::EndsWith(file, ".py")) return "def " + test + "(";
  return test;
}

// What stands between backquotes: files, each followed by its tests.
void check_tests(const std::string& cell) {
  const std::vector<std::string> parts = absl::StrSplit(cell, '`');
  std::string file;
  for (std::size_t i = 1; i < parts.size(); i += 2) {
    if (absl::StrContains(parts[i], '/')) {
      file = parts[i];
      EXPECT_TRUE(std::filesystem::is_regular_file(kTests + "/" + file)) << file;
    } else {
      EXPECT_THAT(text_of(file), HasSubstr(definition_of(parts[i], file))) << file;
    }
  }
}

TEST(NamedScenarios, HaveTestsThatExist) {
  const std::vector<std::string> rows = test::documented_rows(kTests + "/README.md", kHeading);
  EXPECT_EQ(rows.size(), 12U);
  for (const std::string& row : rows) {
    const std::vector<std::string> cells = absl::StrSplit(row, " | ");
    ASSERT_EQ(cells.size(), 3U) << row;
    EXPECT_THAT(cells[2], HasSubstr("/")) << "no file is named: " << row;
    check_tests(cells[2]);
  }
}

}  // namespace
}  // namespace cableway::sim
