#include "tools/cableway/expectation/difference_view.h"

#include "absl/strings/str_cat.h"
#include "routing/text/node_name.h"

namespace cableway::cli {

std::string difference_count(const Comparison& comparison) {
  const std::size_t count = comparison.differences.size();
  return count == 0 ? "no difference" : absl::StrCat(count, count == 1 ? " difference" : " differences");
}

std::string differences_text(const std::string& file, const Comparison& comparison, const Look& look) {
  std::string text =
      look.lines("", absl::StrCat("expected (", routing::escaped(file), "): ", difference_count(comparison),
                                  comparison.by_interface
                                      ? ""
                                      : "; only the numbers of cables between nodes were compared, as the interfaces "
                                        "are not those of the hosts"));
  constexpr std::size_t kLabelWidth = 14;
  for (const Difference& difference : comparison.differences) {
    std::string label(label_of(difference.kind));
    label.resize(kLabelWidth, ' ');
    absl::StrAppend(&text, look.lines("  " + look.paint(Paint::Tone::kWarning, label), difference.what),
                    look.lines(std::string(kLabelWidth + 2, ' '), difference.advice));
  }
  return text;
}

Json differences_json(const std::string& file, const Comparison& comparison) {
  Json list = Json::array();
  for (const Difference& difference : comparison.differences) {
    list.push_back({{"kind", std::string(name_of(difference.kind))},
                    {"about", difference.about},
                    {"what", difference.what},
                    {"advice", difference.advice},
                    {"nodes", difference.nodes},
                    {"found_cables", difference.found_cables},
                    {"expected_cables", difference.expected_cables}});
  }
  return {{"file", routing::escaped(file)},
          {"by", comparison.by_interface ? "interface" : "nodes"},
          {"differences", std::move(list)}};
}

}  // namespace cableway::cli
