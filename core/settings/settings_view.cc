#include "core/settings/settings_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "core/settings/settings_table.h"
#include "routing/text/json_schema.h"

namespace cableway {
namespace {

using Json = nlohmann::ordered_json;

std::string origin_of(const Settings& settings, const Setting& setting) {
  const auto origin = settings.origins.find(std::string(setting.key));
  return origin == settings.origins.end() ? "default" : origin->second;
}

Json json_value(const Settings& settings, const Setting& setting) {
  std::string text = setting.show(settings);
  switch (setting.form) {
    case Setting::Form::kNumber:
    case Setting::Form::kTruth:
      return Json::parse(text);
    case Setting::Form::kList: {
      Json list = Json::array();
      for (const PortSelector& port : settings.ports) list.push_back(to_text(port));
      return list;
    }
    case Setting::Form::kText:
    case Setting::Form::kFile:
    case Setting::Form::kTextOrNumber:
      break;
  }
  return text.empty() ? Json(nullptr) : Json(std::move(text));
}

std::string json_of(const Settings& settings, const std::vector<std::string>& warnings) {
  Json values = Json::object();
  for (const Setting& setting : all_settings()) {
    values[std::string(setting.key)] = {{"value", json_value(settings, setting)},
                                        {"from", origin_of(settings, setting)}};
  }
  const Json view = {
      {routing::kSchemaMember, routing::kJsonSchema}, {"settings", std::move(values)}, {"warnings", warnings}};
  // Paths may not be valid UTF-8.
  return view.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string text_of(const Settings& settings, const std::vector<std::string>& warnings) {
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  const auto value_of = [&](const Setting& setting) {
    std::string value = setting.show(settings);
    return value.empty() ? std::string("-") : value;
  };
  for (const Setting& setting : all_settings()) {
    key_width = std::max(key_width, setting.key.size());
    value_width = std::max(value_width, value_of(setting).size());
  }
  std::string text;
  for (const Setting& setting : all_settings()) {
    std::string key(setting.key);
    std::string value = value_of(setting);
    key.resize(key_width, ' ');
    value.resize(value_width, ' ');
    absl::StrAppend(&text, key, "  ", value, "  ", origin_of(settings, setting), "\n");
  }
  for (const std::string& warning : warnings) absl::StrAppend(&text, "warning: ", warning, "\n");
  return text;
}

}  // namespace

std::string describe_settings(const Settings& settings, const std::vector<std::string>& warnings, ViewFormat format) {
  return format == ViewFormat::kJson ? json_of(settings, warnings) : text_of(settings, warnings);
}

}  // namespace cableway
