// Sets keys in the text of a settings file, and keeps all other lines as they are.
#ifndef CABLEWAY_TOOLS_CABLEWAY_UP_SETTINGS_EDIT_H_
#define CABLEWAY_TOOLS_CABLEWAY_UP_SETTINGS_EDIT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cableway::cli {

struct WantedSetting {
  std::string key;    // one of all_settings()
  std::string value;  // as core/settings has it: lists joined by commas
};

struct SettingChange {
  std::string key;
  std::optional<std::string> before;  // nullopt: not set
  std::string after;
};

struct SettingsEdit {
  std::string text;
  std::vector<SettingChange> changes;  // empty: the text is as it was
};

// A key that is a comment ("#node = ..") is set in a line of its own below that, one that is nowhere at the end.
// InvalidArgument: the file is malformed (core/settings/settings_file.h). FailedPrecondition: a key has another value,
// unless `force`, which replaces its line; the message names file and line.
absl::StatusOr<SettingsEdit> edit_settings(const std::string& text, const std::string& file_name,
                                           const std::vector<WantedSetting>& wanted, bool force);

}  // namespace cableway::cli

#endif  // CABLEWAY_TOOLS_CABLEWAY_UP_SETTINGS_EDIT_H_
