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

// All settings of this process, including those of the settings file. An InvalidArgument names the option, the
// variable, the line of the file, or the unreadable file at fault. The default file may be absent; a named file may
// not.
absl::StatusOr<Settings> read_settings(const SettingsPlaces& places);

// The name that the kernel reports, with the domain if there is one.
std::string host_name();

}  // namespace cableway::host

#endif  // CABLEWAY_CORE_LINUX_FILES_SETTINGS_READER_H_
