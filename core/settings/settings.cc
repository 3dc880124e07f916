#include "core/settings/settings.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/settings/settings_table.h"
#include "routing/text/absl_view.h"
#include "routing/text/nearest_name.h"
#include "routing/text/node_name.h"

namespace cableway {
namespace {

absl::Status refusal(const std::string& subject, std::string_view value, const Setting& setting) {
  return absl::InvalidArgumentError(
      absl::StrCat(subject, " is ", routing::in_quotes(value),
                   routing::did_you_mean(absl::AsciiStrToLower(routing::absl_view(value)), setting.choices),
                   "; expected ", expected_of(setting)));
}

std::string subject_of(const GivenSetting& given) {
  return given.in_file ? absl::StrCat(given.origin, ": ", given.key) : given.origin;
}

std::optional<GivenSetting> find_given(const std::vector<GivenSetting>& all, std::string_view key) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const GivenSetting& given) { return given.key == key; });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

absl::Status take(const SettingSources& sources, const Setting& setting, Settings& settings) {
  std::optional<GivenSetting> given = given_outside_file(sources, setting.key);
  if (!given) given = find_given(sources.file, setting.key);
  if (!given) return absl::OkStatus();
  if (const std::optional<std::string_view> refused = setting.set(setting, given->value, settings)) {
    return refusal(subject_of(*given), *refused, setting);
  }
  settings.origins[given->key] = given->origin;
  return absl::OkStatus();
}

// "hold_ms is 200 (CABLEWAY_HOLD_MS)"
std::string with_origin(const Settings& settings, const char* key) {
  const auto origin = settings.origins.find(key);
  return absl::StrCat(key, " is ", find_setting(key)->show(settings), " (",
                      origin == settings.origins.end() ? "the default" : origin->second, ")");
}

// Checks constraints between settings.
absl::Status cross_check(const Settings& settings) {
  if (settings.hold < kHellosPerHold * settings.hello) {
    return absl::InvalidArgumentError(
        absl::StrCat(with_origin(settings, "hold_ms"), " and ", with_origin(settings, "hello_ms"),
                     "; expected hold_ms to be at least ", kHellosPerHold, " times hello_ms, here ",
                     (kHellosPerHold * settings.hello).count()));
  }
  const PortRange& data = settings.data_ports;
  if (data.low <= settings.relay_port && settings.relay_port <= data.high) {
    return absl::InvalidArgumentError(absl::StrCat(with_origin(settings, "relay_port"), " and ",
                                                   with_origin(settings, "data_ports"),
                                                   "; expected relay_port outside of data_ports"));
  }
  if (settings.http && !settings.http->is_loopback && settings.http_token_file.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        with_origin(settings, "http"), ", which other hosts can reach, and http_token_file is not set; expected a ",
        "file with a token, or an address of the loopback, such as 127.0.0.1:", settings.http->port));
  }
  return absl::OkStatus();
}

constexpr std::string_view kPrefix = "CABLEWAY_";

// " (did you mean CABLEWAY_NODE?)", or "". Compares only the parts after the prefix.
std::string meant_variable(std::string_view name, const std::vector<std::string>& variables) {
  std::vector<std::string_view> names;
  names.reserve(variables.size());
  for (const std::string_view variable : variables) names.push_back(variable.substr(kPrefix.size()));
  const std::optional<std::string_view> nearest = routing::nearest_name(name.substr(kPrefix.size()), names);
  if (!nearest) return "";
  return absl::StrCat(" (did you mean ", routing::absl_view(kPrefix), routing::absl_view(*nearest), "?)");
}

}  // namespace

std::optional<GivenSetting> given_outside_file(const SettingSources& sources, std::string_view key) {
  if (std::optional<GivenSetting> option = find_given(sources.options, key)) return option;
  const Setting* setting = find_setting(key);
  if (setting == nullptr || sources.environment == nullptr) return std::nullopt;
  std::string variable = variable_of(*setting);
  const char* value = sources.environment(variable.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return GivenSetting{.key = std::string(key), .value = value, .origin = std::move(variable)};
}

absl::StatusOr<Settings> settings_from(const SettingSources& sources) {
  Settings settings;
  for (const Setting& setting : all_settings()) {
    if (absl::Status status = take(sources, setting, settings); !status.ok()) return status;
  }
  if (settings.node.empty()) {
    const Setting& node = *find_setting("node");
    if (node.set(node, sources.host_name, settings)) return refusal(variable_of(node), sources.host_name, node);
  }
  if (absl::Status status = cross_check(settings); !status.ok()) return status;
  return settings;
}

absl::StatusOr<Settings> settings_from(const std::function<const char*(const char*)>& get, std::string host_name) {
  return settings_from(
      SettingSources{.environment = get, .host_name = std::move(host_name), .options = {}, .file = {}});
}

absl::Status check_names(const char* const* environment) {
  std::vector<std::string> variables;
  for (const Setting& setting : all_settings()) variables.push_back(variable_of(setting));
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(kPrefix)) continue;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (std::find(variables.begin(), variables.end(), name) != variables.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat("unknown setting ", routing::absl_view(name),
                                                   meant_variable(name, variables), "; the settings are ",
                                                   absl::StrJoin(variables, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace cableway
