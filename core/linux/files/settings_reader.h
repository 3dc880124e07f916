#ifndef CABLEWAY_CORE_LINUX_FILES_SETTINGS_READER_H_
#define CABLEWAY_CORE_LINUX_FILES_SETTINGS_READER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/settings/settings.h"

namespace cableway::host {

struct SettingsPlaces {
  const char* const* environment;  // null-terminated array of NAME=VALUE
  std::string host_name;
  std::vector<GivenSetting> options;
  std::string default_file = kDefaultSettingsFile;
};

// All the settings of this process, those of the settings file included. An InvalidArgument names what is at fault: the
// option, the variable, the line of the file, or the file that cannot be read. A file that nobody named may be absent.
absl::StatusOr<Settings> read_settings(const SettingsPlaces& places);

// As the kernel knows it, with its domain if it has one.
std::string host_name();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_FILES_SETTINGS_READER_H_
