// The table of settings, used for parsing, errors, --help, manual pages, the settings view, and docs/settings.md.
#ifndef CABLEWAY_CORE_SETTINGS_SETTINGS_TABLE_H_
#define CABLEWAY_CORE_SETTINGS_SETTINGS_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/settings/settings.h"

namespace cableway {

struct Setting {
  // The accepted TOML types: text, text that names a file, text or a list of it, an integer, text or an integer, a
  // boolean.
  enum class Form { kText, kFile, kList, kNumber, kTextOrNumber, kTruth };

  std::string_view key;  // in the file; the variable is CABLEWAY_ and the key in upper case
  Form form;
  std::string_view takes;         // the accepted values; for a number, its unit
  std::int64_t lowest;            // of a number
  std::int64_t highest;           // of a number
  std::string_view default_note;  // describes the default if the value of Settings{} does not show it
  std::string_view meaning;
  // Returns nullopt, or the part of `text` that is invalid.
  std::optional<std::string_view> (*set)(const Setting& setting, std::string_view text, Settings& settings);
  // The value in the form that `set` accepts; empty: none.
  std::string (*show)(const Settings& settings);
  std::span<const std::string_view> choices = {};  // all accepted values, if they are few words; else empty
  bool reloads = false;                            // a running node adopts it when it reads its settings again
};

// In display order.
std::span<const Setting> all_settings();

// Null: no setting has this key.
const Setting* find_setting(std::string_view key);

// "CABLEWAY_RELAY_PORT" and "--relay-port" of relay_port.
std::string variable_of(const Setting& setting);
std::string option_of(const Setting& setting);

// The accepted values with their bounds, as the text after "expected " in a message.
std::string expected_of(const Setting& setting);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_SETTINGS_TABLE_H_
