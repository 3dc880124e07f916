#include "core/settings/settings_reload.h"

#include "absl/strings/str_cat.h"
#include "core/settings/settings_table.h"

namespace cableway {

void adopt_reloaded(const Settings& from, Settings& to) {
  for (const Setting& setting : all_settings()) {
    if (setting.reloads) static_cast<void>(setting.set(setting, setting.show(from), to));
  }
}

std::string different_settings(const Settings& left, const Settings& right) {
  std::string keys;
  for (const Setting& setting : all_settings()) {
    if (setting.show(left) == setting.show(right)) continue;
    absl::StrAppend(&keys, keys.empty() ? "" : ", ", absl::string_view(setting.key.data(), setting.key.size()));
  }
  return keys;
}

}  // namespace cableway
