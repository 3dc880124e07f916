#include "core/metrics/metric_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "tests/documentation_table.h"

namespace cableway {
namespace {

std::string documented_labels(std::string_view labels) {
  if (labels.empty()) return "-";
  return "`" + absl::StrReplaceAll(std::string(labels), {{",", "`, `"}}) + "`";
}

TEST(MetricTable, MatchesTheDocumentation) {
  std::vector<std::string> rows;
  for (const MetricFamily& family : metric_families()) {
    rows.push_back("| `" + std::string(family.name) + "` | " + std::string(name_of(family.kind)) + " | " +
                   documented_labels(family.labels) + " | " + std::string(family.help) + " |");
  }
  EXPECT_EQ(test::documented_rows(CABLEWAY_METRICS_DOC, "| metric | type | labels | meaning |"), rows)
      << "docs/metrics.md and core/metrics/metric_table.cc differ";
}

TEST(MetricTable, KeepsToTheConventions) {
  const std::regex name("(cableway|process)_[a-z]+(_[a-z]+)*");
  const std::regex labels("([a-z]+(,[a-z]+)*)?");
  std::set<std::string_view> names;
  for (const MetricFamily& family : metric_families()) {
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    EXPECT_TRUE(std::regex_match(std::string(family.name), name)) << family.name;
    EXPECT_TRUE(std::regex_match(std::string(family.labels), labels)) << family.labels;
    EXPECT_EQ(family.name.ends_with("_total"), family.kind == MetricKind::kCounter) << family.name;
    EXPECT_FALSE(family.help.empty()) << family.name;
    EXPECT_EQ(family.help.find_first_of("\n\\|"), std::string_view::npos) << family.name;
    EXPECT_EQ(&family_of(family.metric), &family);
  }
}

// The names of metrics in all members "expr" of a dashboard.
void find_metrics(const nlohmann::json& part, std::set<std::string>& found) {
  if (part.is_object() && part.contains("expr")) {
    const std::string expression = part["expr"].get<std::string>();
    const std::regex name("\\b(cableway|process)_[a-z_]+");
    for (std::sregex_iterator each(expression.begin(), expression.end(), name); each != std::sregex_iterator();
         ++each) {
      found.insert(each->str());
    }
  }
  if (!part.is_structured()) return;
  for (const nlohmann::json& member : part) find_metrics(member, found);
}

TEST(MetricTable, HasWhatTheDashboardShows) {
  std::ifstream file(CABLEWAY_DASHBOARD);
  std::set<std::string> found;
  find_metrics(nlohmann::json::parse(file), found);
  EXPECT_GT(found.size(), 15U);
  for (const MetricFamily& family : metric_families()) found.erase(std::string(family.name));
  EXPECT_EQ(found, std::set<std::string>()) << "the dashboard names metrics that do not exist";
}

}  // namespace
}  // namespace cableway
