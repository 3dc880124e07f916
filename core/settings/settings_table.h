// The settings one by one: the table behind reading, errors, --help, the view of what is in force, and
// docs/settings.md.
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
  // What TOML may give: text, text or a list of it, a whole number, text or a whole number, true or false.
  enum class Form { kText, kList, kNumber, kTextOrNumber, kTruth };

  std::string_view key;  // in the file; CABLEWAY_ and it in upper case names the variable
  Form form;
  std::string_view takes;         // what a value must be; of a number, what it counts
  std::int64_t lowest;            // of a number
  std::int64_t highest;           // of a number
  std::string_view default_note;  // the default in words, where the value of Settings{} does not say it
  std::string_view meaning;
  // Returns nothing, or the part of `text` that is not what it takes.
  std::optional<std::string_view> (*set)(const Setting& setting, std::string_view text, Settings& settings);
  // The value as `set` takes it, empty: none.
  std::string (*show)(const Settings& settings);
};

// In the order in which people are shown them.
std::span<const Setting> all_settings();

// Null: no setting has this key.
const Setting* find_setting(std::string_view key);

// "CABLEWAY_RELAY_PORT" and "--relay-port" of relay_port.
std::string variable_of(const Setting& setting);
std::string option_of(const Setting& setting);

// What follows "expected " in a message: what the value must be, with its bounds.
std::string expected_of(const Setting& setting);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_SETTINGS_TABLE_H_
