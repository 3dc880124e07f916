#include "core/settings/setting_line.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace cableway {
namespace {

std::string basic_string(const std::string& text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

std::string toml_value(Setting::Form form, const std::string& value) {
  switch (form) {
    case Setting::Form::kNumber:
    case Setting::Form::kTruth:
      return value;
    case Setting::Form::kTextOrNumber:
      return is_number(value) ? value : basic_string(value);
    case Setting::Form::kList: {
      std::vector<std::string> members = absl::StrSplit(value, ',');
      for (std::string& member : members) member = basic_string(member);
      return absl::StrCat("[", absl::StrJoin(members, ", "), "]");
    }
    case Setting::Form::kText:
    case Setting::Form::kFile:
      break;
  }
  return basic_string(value);
}

}  // namespace

std::string setting_line(const Setting& setting, const std::string& value) {
  return absl::StrCat(std::string(setting.key), " = ", toml_value(setting.form, value));
}

}  // namespace cableway
