// The settings in force and their origins, for people and for scripts.
#ifndef CABLEWAY_CORE_SETTINGS_SETTINGS_VIEW_H_
#define CABLEWAY_CORE_SETTINGS_SETTINGS_VIEW_H_

#include <string>
#include <vector>

#include "core/settings/settings.h"

namespace cableway {

enum class ViewFormat { kText, kJson };

// Text: a table, then the warnings, one a line. JSON: {"settings": {KEY: {"value", "from"}}, "warnings": [..]} with
// numbers, booleans and lists as such and null for unset values; "from" is "default", "FILE:LINE", "CABLEWAY_NODE" or
// "--node".
std::string describe_settings(const Settings& settings, const std::vector<std::string>& warnings, ViewFormat format);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_SETTINGS_VIEW_H_
