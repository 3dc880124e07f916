// Feeds bytes to the settings file parser, and what it accepts to the settings. An error must name the place
// and what was expected; accepted settings can be shown, and every value survives being shown and read again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/settings/settings_file.h"
#include "core/settings/settings_table.h"
#include "core/settings/settings_view.h"

namespace {

void require(bool holds, const char* what, const std::string& detail) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

void check_error(const std::string& message) {
  require(message.find("fuzz.toml:") != std::string::npos, "an error does not name the place", message);
  require(message.find("; expected ") != std::string::npos, "an error does not say what was expected", message);
  require(message.size() < 4096, "an error is too long", message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cableway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<std::vector<GivenSetting>> given = parse_settings_file(text, "fuzz.toml");
  if (!given.ok()) {
    check_error(std::string(given.status().message()));
    return 0;
  }
  const absl::StatusOr<Settings> settings =
      settings_from({.environment = nullptr, .host_name = "host", .options = {}, .file = *std::move(given)});
  if (!settings.ok()) {
    check_error(std::string(settings.status().message()));
    return 0;
  }
  require(!describe_settings(*settings, {}, ViewFormat::kText).empty(), "is not shown", std::string(text));
  require(!describe_settings(*settings, {}, ViewFormat::kJson).empty(), "is not shown", std::string(text));
  for (const Setting& setting : all_settings()) {
    const std::string shown = setting.show(*settings);
    if (shown.empty()) continue;
    Settings again;
    require(!setting.set(setting, shown, again) && setting.show(again) == shown, "does not survive being shown", shown);
  }
  return 0;
}
