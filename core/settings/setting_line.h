// Settings as lines of a settings file.
#ifndef CABLEWAY_CORE_SETTINGS_SETTING_LINE_H_
#define CABLEWAY_CORE_SETTINGS_SETTING_LINE_H_

#include <string>

#include "core/settings/settings_table.h"

namespace cableway {

// "ports = ["eth1", "eth2"]", without a newline, in the TOML type of the setting's form. `value` is one that
// Setting::set accepts, in printable ASCII: lists are joined by commas.
std::string setting_line(const Setting& setting, const std::string& value);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_SETTING_LINE_H_
