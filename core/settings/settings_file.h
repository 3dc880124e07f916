// The settings file (TOML): one line a setting, named by its key.
//
//     node = "n0"
//     ports = ["eth1", "10.7.0.0/16"]
//     hello_ms = 100
#ifndef CABLEWAY_CORE_SETTINGS_SETTINGS_FILE_H_
#define CABLEWAY_CORE_SETTINGS_SETTINGS_FILE_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/settings/settings.h"

namespace cableway {

inline constexpr std::size_t kMaxSettingsFileBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxSettingsFileLineBytes = 1024;

// The caller reads the file; `file_name` appears in origins and messages. The result is in the order of all_settings().
// Only the TOML types of values are checked here; settings_from() checks the rest. Every error is InvalidArgument and
// reads "FILE:LINE: what is wrong; what was expected".
absl::StatusOr<std::vector<GivenSetting>> parse_settings_file(std::string_view text, std::string_view file_name);

}  // namespace cableway

#endif  // CABLEWAY_CORE_SETTINGS_SETTINGS_FILE_H_
