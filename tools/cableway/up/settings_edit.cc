#include "tools/cableway/up/settings_edit.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/settings/setting_line.h"
#include "core/settings/settings_file.h"
#include "core/settings/settings_table.h"
#include "routing/text/node_name.h"

namespace cableway::cli {
namespace {

using Lines = std::vector<std::string>;
using Given = std::vector<GivenSetting>;

constexpr std::size_t kLongestValue = 100;  // lines of an array

std::string line_of_setting(const WantedSetting& wanted) {
  return setting_line(*find_setting(wanted.key), wanted.value);
}

const GivenSetting* find_given(const Given& given, const std::string& key) {
  const auto found =
      std::find_if(given.begin(), given.end(), [&](const GivenSetting& each) { return each.key == key; });
  return found == given.end() ? nullptr : &*found;
}

// Whether `line` is "#key = ..".
bool is_comment_of(absl::string_view line, const std::string& key) {
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "#")) return false;
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, key)) return false;
  return absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "=");
}

// Whether `text` sets what `before` does, but for `wanted`, which has its value.
bool sets_only(const std::string& text, const std::string& file_name, const Given& before,
               const WantedSetting& wanted) {
  const absl::StatusOr<Given> now = parse_settings_file(text, file_name);
  if (!now.ok()) return false;
  const GivenSetting* own = find_given(*now, wanted.key);
  if (own == nullptr || own->value != wanted.value) return false;
  const std::size_t others = before.size() - (find_given(before, wanted.key) == nullptr ? 0 : 1);
  if (now->size() != others + 1) return false;
  return std::all_of(before.begin(), before.end(), [&](const GivenSetting& each) {
    if (each.key == wanted.key) return true;
    const GivenSetting* same = find_given(*now, each.key);
    return same != nullptr && same->value == each.value;
  });
}

absl::Status not_editable(const std::string& file_name, const std::string& key) {
  return absl::FailedPreconditionError(absl::StrCat(routing::escaped(file_name), ": ", key,
                                                    " cannot be set without changing other lines; set it by hand"));
}

std::string joined_lines(const Lines& lines) {
  return absl::StrJoin(lines, "\n");
}

// `line` counts from 1. The value may go over several lines: the fewest are replaced that leave all else as it is.
absl::StatusOr<std::string> replace_value(const std::string& text, const std::string& file_name, const Given& given,
                                          const WantedSetting& wanted, std::size_t line) {
  const Lines lines = absl::StrSplit(text, '\n');
  for (std::size_t count = 1; count <= kLongestValue && line - 1 + count <= lines.size(); ++count) {
    Lines edited(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(line - 1));
    edited.push_back(line_of_setting(wanted));
    edited.insert(edited.end(), lines.begin() + static_cast<std::ptrdiff_t>(line - 1 + count), lines.end());
    std::string result = joined_lines(edited);
    if (sets_only(result, file_name, given, wanted)) return result;
  }
  return not_editable(file_name, wanted.key);
}

absl::StatusOr<std::string> add_value(const std::string& text, const std::string& file_name, const Given& given,
                                      const WantedSetting& wanted) {
  Lines lines = absl::StrSplit(text, '\n');
  const auto comment = std::find_if(lines.begin(), lines.end(),
                                    [&](const std::string& line) { return is_comment_of(line, wanted.key); });
  if (comment != lines.end()) {
    lines.insert(comment + 1, line_of_setting(wanted));
    std::string below = joined_lines(lines);
    if (sets_only(below, file_name, given, wanted)) return below;  // else it was within a text of several lines
  }
  const bool ends_line = text.empty() || absl::EndsWith(text, "\n");
  std::string at_end = absl::StrCat(text, ends_line ? "" : "\n", line_of_setting(wanted), "\n");
  if (sets_only(at_end, file_name, given, wanted)) return at_end;
  return not_editable(file_name, wanted.key);
}

// From an origin "FILE:LINE".
std::size_t line_in(const std::string& origin) {
  std::size_t line = 0;
  const bool read = absl::SimpleAtoi(origin.substr(origin.rfind(':') + 1), &line);
  return read ? line : 0;
}

}  // namespace

absl::StatusOr<SettingsEdit> edit_settings(const std::string& text, const std::string& file_name,
                                           const std::vector<WantedSetting>& wanted, bool force) {
  SettingsEdit edit{.text = text, .changes = {}};
  for (const WantedSetting& each : wanted) {
    const absl::StatusOr<Given> given = parse_settings_file(edit.text, file_name);
    if (!given.ok()) return given.status();
    const GivenSetting* present = find_given(*given, each.key);
    if (present != nullptr && present->value == each.value) continue;
    if (present != nullptr && !force) {
      return absl::FailedPreconditionError(absl::StrCat(present->origin, ": ", each.key, " is ",
                                                        routing::in_quotes(present->value), "; expected ",
                                                        routing::in_quotes(each.value), ", or --force to replace it"));
    }
    const absl::StatusOr<std::string> result =
        present == nullptr ? add_value(edit.text, file_name, *given, each)
                           : replace_value(edit.text, file_name, *given, each, line_in(present->origin));
    if (!result.ok()) return result.status();
    edit.text = *result;
    edit.changes.push_back({each.key, present == nullptr ? std::nullopt : std::optional(present->value), each.value});
  }
  return edit;
}

}  // namespace cableway::cli
