// Checks Prometheus' text format 0.0.4, more strictly than Prometheus itself.
#ifndef CABLEWAY_TESTS_CORE_METRICS_EXPOSITION_CHECK_H_
#define CABLEWAY_TESTS_CORE_METRICS_EXPOSITION_CHECK_H_

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cableway::test {

struct Exposition {
  std::map<std::string, std::string> samples;  // by the name with its labels
  std::vector<std::string> faults;
};

// Every family has one HELP, then one TYPE, then its samples together, each once; counters are not negative.
inline Exposition parse_exposition(const std::string& text) {
  static const std::regex kHelp("# HELP ([a-z_]+) .+");
  static const std::regex kType("# TYPE ([a-z_]+) (counter|gauge)");
  static const std::regex kSample(
      R"re(([a-z_]+)(\{[a-z]+="(?:[^"\\]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\]|\\["\\n])*")*\})? (-?[0-9][0-9.e+-]*))re");
  Exposition found;
  if (!absl::EndsWith(text, "\n")) found.faults.push_back("no newline at the end");
  std::set<std::string> families;
  std::string helped;
  std::string typed;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n', absl::SkipEmpty()))) {
    std::smatch part;
    if (std::regex_match(line, part, kHelp)) {
      helped = part[1];
      typed.clear();
      if (!families.insert(helped).second) found.faults.push_back("twice: " + helped);
    } else if (std::regex_match(line, part, kType)) {
      typed = part[1];
      if (typed != helped) found.faults.push_back("no HELP before: " + line);
      if ((part[2] == "counter") != absl::EndsWith(typed, "_total")) found.faults.push_back("kind: " + line);
    } else if (std::regex_match(line, part, kSample)) {
      if (part[1] != typed) found.faults.push_back("no TYPE before: " + line);
      if (!found.samples.emplace(absl::StrCat(part[1].str(), part[2].str()), part[3]).second) {
        found.faults.push_back("twice: " + line);
      }
      if (absl::EndsWith(typed, "_total") && absl::StartsWith(part[3].str(), "-"))
        found.faults.push_back("negative: " + line);
    } else {
      found.faults.push_back("not understood: " + line);
    }
  }
  return found;
}

}  // namespace cableway::test

#endif  // CABLEWAY_TESTS_CORE_METRICS_EXPOSITION_CHECK_H_
