#include "core/linux/files/settings_reader.h"

#include <unistd.h>

#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/linux/os/bounded_file.h"
#include "core/settings/settings_file.h"
#include "routing/text/node_name.h"

namespace cableway::host {
namespace {

const char* find_variable(const char* const* environment, std::string_view name) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return *environment + name.size() + 1;
  }
  return nullptr;
}

absl::Status unreadable(const std::optional<GivenSetting>& named, const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(named ? absl::StrCat(named->origin, " names ") : "",
                                                 "the settings file ", routing::in_quotes(path), ", which ", why));
}

// Fills sources.file. Returns the path of the file that was read; empty if there is none.
absl::StatusOr<std::string> read_file(const SettingsPlaces& places, SettingSources& sources) {
  const std::optional<GivenSetting> named = given_outside_file(sources, "config");
  const std::string& path = named ? named->value : places.default_file;
  const absl::StatusOr<UniqueFd> file = open_file(path);
  if (!named && absl::IsNotFound(file.status())) return std::string();
  if (!file.ok()) return unreadable(named, path, file.status().message());
  const absl::StatusOr<std::string> text = read_at_most(*file, kMaxSettingsFileBytes + 1);
  if (!text.ok()) return unreadable(named, path, text.status().message());
  absl::StatusOr<std::vector<GivenSetting>> given = parse_settings_file(*text, path);
  if (!given.ok()) return given.status();
  sources.file = *std::move(given);
  return path;
}

}  // namespace

absl::StatusOr<Settings> read_settings(const SettingsPlaces& places) {
  if (absl::Status status = check_names(places.environment); !status.ok()) return status;
  SettingSources sources;
  sources.environment = [&](const char* name) { return find_variable(places.environment, name); };
  sources.host_name = places.host_name;
  sources.options = places.options;
  const absl::StatusOr<std::string> file = read_file(places, sources);
  if (!file.ok()) return file.status();
  absl::StatusOr<Settings> settings = settings_from(sources);
  if (settings.ok()) settings->config = *file;
  return settings;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace cableway::host
