#include "core/settings/settings_file.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/settings/settings_table.h"
#include "routing/text/hardened_toml.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

using Form = Setting::Form;

constexpr std::string_view kConfig = "config";

// The elements of a list, joined by commas. Nullopt if one of them is empty or not text.
std::optional<std::string> joined(const toml::array& list) {
  std::string text;
  for (const toml::node& element : list) {
    if (!element.is_string() || element.as_string()->get().empty()) return std::nullopt;
    absl::StrAppend(&text, text.empty() ? "" : ",", element.as_string()->get());
  }
  return text;
}

// The value in the form used in the environment. Nullopt if the TOML type is not the setting's.
std::optional<std::string> value_of(const toml::node& node, Form form) {
  const bool text = form != Form::kNumber && form != Form::kTruth;
  if (text && node.is_string()) return node.as_string()->get();
  if (form == Form::kList && node.is_array()) return joined(*node.as_array());
  const bool number = form == Form::kNumber || form == Form::kTextOrNumber;
  if (number && node.is_integer()) return absl::StrCat(node.as_integer()->get());
  if (form == Form::kTruth && node.is_boolean()) return node.as_boolean()->get() ? "true" : "false";
  return std::nullopt;
}

// Describes a value of the wrong type for a message.
std::string shown(const toml::node& node) {
  if (node.is_string()) return absl::StrCat("the text ", routing::in_quotes(node.as_string()->get()));
  if (node.is_integer()) return absl::StrCat("the number ", node.as_integer()->get());
  if (node.is_boolean()) return node.as_boolean()->get() ? "true" : "false";
  if (node.is_floating_point()) return "a number with a fraction";
  if (node.is_array()) return "an array";
  return node.is_table() ? "a table" : "a date or time";
}

std::string expected_in_file(const Setting& setting) {
  const bool text = setting.form == Form::kText || setting.form == Form::kFile || setting.form == Form::kList;
  return absl::StrCat("; expected ", text ? "text in quotes: " : "", expected_of(setting));
}

absl::StatusOr<GivenSetting> read_setting(const toml::node& node, const Setting& setting, std::string_view text,
                                          std::string_view file_name) {
  const std::uint32_t line = routing::line_of(node);
  const std::string key(setting.key);
  if (!routing::is_ascii(text, node)) {
    return routing::toml_fault(file_name, line,
                               absl::StrCat(key, " has characters beyond ASCII; expected \\u escapes in their place"));
  }
  const std::optional<std::string> value = value_of(node, setting.form);
  if (!value) {
    return routing::toml_fault(file_name, line, absl::StrCat(key, " is ", shown(node), expected_in_file(setting)));
  }
  return GivenSetting{
      .key = key, .value = *value, .origin = absl::StrCat(routing::escaped(file_name), ":", line), .in_file = true};
}

}  // namespace

absl::StatusOr<std::vector<GivenSetting>> parse_settings_file(std::string_view text, std::string_view file_name) {
  constexpr routing::TomlBounds kBounds = {.file_bytes = kMaxSettingsFileBytes,
                                           .line_bytes = kMaxSettingsFileLineBytes};
  const absl::StatusOr<toml::table> parsed =
      routing::parse_hardened(text, file_name, kBounds, "TOML with one setting a line, such as node = \"n0\"");
  if (!parsed.ok()) return parsed.status();
  std::vector<std::string_view> keys;
  for (const Setting& setting : all_settings()) {
    if (setting.key != kConfig) keys.push_back(setting.key);
  }
  absl::Status status = routing::check_toml_keys(*parsed, file_name, "the settings file", keys);
  if (!status.ok()) return status;

  std::vector<GivenSetting> given;
  for (const std::string_view key : keys) {
    const toml::node* node = parsed->get(key);
    if (node == nullptr) continue;
    absl::StatusOr<GivenSetting> setting = read_setting(*node, *find_setting(key), text, file_name);
    if (!setting.ok()) return setting.status();
    given.push_back(*std::move(setting));
  }
  return given;
}

}  // namespace cableway
