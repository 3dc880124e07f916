#include "core/settings.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/node_name.h"
#include "routing/topology.h"

namespace cableway {
namespace {

constexpr std::array<std::string_view, 5> kLogLevels = {"trace", "debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 7> kNames = {"CABLEWAY_NODE",     "CABLEWAY_CLUSTER", "CABLEWAY_RUNTIME_DIR",
                                                    "CABLEWAY_TOPOLOGY", "CABLEWAY_LOG",     "CABLEWAY_DAEMON",
                                                    "CABLEWAY_LINGER"};
constexpr int kLongestLingerSeconds = 86400;

absl::Status bad(const char* name, const std::string& value, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(name, " is \"", value, "\"; expected ", expected));
}

bool known_level(const std::string& level) {
  for (const std::string_view known : kLogLevels) {
    if (level == known) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<Settings> settings_from(const std::function<const char*(const char*)>& get, std::string host_name) {
  Settings settings;
  settings.node = std::move(host_name);
  const auto read = [&](const char* name, std::string& value) {
    if (const char* text = get(name); text != nullptr && *text != '\0') value = text;
  };
  std::string linger = absl::StrCat(settings.linger.count());
  read("CABLEWAY_NODE", settings.node);
  read("CABLEWAY_CLUSTER", settings.cluster);
  read("CABLEWAY_RUNTIME_DIR", settings.runtime_dir);
  read("CABLEWAY_TOPOLOGY", settings.topology_file);
  read("CABLEWAY_LOG", settings.log_level);
  read("CABLEWAY_DAEMON", settings.daemon);
  read("CABLEWAY_LINGER", linger);
  if (!routing::is_valid_name(settings.node, routing::kMaxNodeNameLength)) {
    return bad("CABLEWAY_NODE", settings.node, "1 to 63 letters, digits, '.', '_' or '-'");
  }
  if (!known_level(settings.log_level)) {
    return bad("CABLEWAY_LOG", settings.log_level, "trace, debug, info, warn or error");
  }
  int seconds = 0;
  if (!absl::SimpleAtoi(linger, &seconds) || seconds < 0 || seconds > kLongestLingerSeconds) {
    return bad("CABLEWAY_LINGER", linger, absl::StrCat("seconds, 0 to ", kLongestLingerSeconds));
  }
  settings.linger = std::chrono::seconds(seconds);
  return settings;
}

absl::Status check_names(const char* const* environment) {
  constexpr std::string_view kPrefix = "CABLEWAY_";
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(kPrefix)) continue;
    const std::string_view name = entry.substr(0, entry.find('='));
    bool known = false;
    for (const std::string_view setting : kNames) known = known || name == setting;
    if (known) continue;
    std::string names;
    for (const std::string_view setting : kNames) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", absl::string_view(setting.data(), setting.size()));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("unknown setting ", absl::string_view(name.data(), name.size()), "; the settings are ", names));
  }
  return absl::OkStatus();
}

}  // namespace cableway
