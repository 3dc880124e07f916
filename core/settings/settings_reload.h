// What a running node does with settings that were read again.
#ifndef CABLEWAY_CORE_SETTINGS_SETTINGS_RELOAD_H_
#define CABLEWAY_CORE_SETTINGS_SETTINGS_RELOAD_H_

#include <string>

#include "core/settings/settings.h"

namespace cableway {

// Copies the settings that need no restart.
void adopt_reloaded(const Settings& from, Settings& to);

// Keys of the settings that differ, as in "node, ports".
std::string different_settings(const Settings& left, const Settings& right);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_SETTINGS_RELOAD_H_
