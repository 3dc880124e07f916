#include "nccl_adapter/preset/host_preset.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/linux/files/settings_reader.h"
#include "core/linux/ports/default_route.h"
#include "core/linux/session/session_dialer.h"
#include "core/linux/session/session_names.h"
#include "core/settings/settings.h"
#include "nccl_adapter/abi/log.h"
#include "nccl_adapter/preset/cable_interfaces.h"
#include "nccl_adapter/preset/preset.h"

namespace cableway::nccl::env {
namespace {

// Null until init. Never destroyed: NCCL asks while the process exits, too.
std::atomic<const Preset*> preset{nullptr};

std::string own_path() {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&own_path), &library) == 0 || library.dli_fname == nullptr) return "";
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(library.dli_fname, error);
  return error ? "" : file.string();
}

// Also if this user may not use it: the plugin then gives the reason, which another network would hide.
bool node_runs(const Settings& settings) {
  const absl::StatusOr<host::SessionNames> names = host::session_names(settings);
  return names.ok() && !absl::IsNotFound(host::dial_node(*names).status());
}

Preset decide(const Log& log) {
  const absl::StatusOr<Settings> settings =
      host::read_settings({.environment = environ, .host_name = host::host_name(), .options = {}});
  if (!settings.ok()) {
    log.warn(absl::StrCat("no preset: ", settings.status().message()));
    return {};
  }
  if (!settings->preset) return {};
  PresetFacts facts;
  facts.has_cables = settings->origins.contains("ports") || node_runs(*settings);
  if (!facts.has_cables) {
    log.info("no preset: no node runs here, and the settings name no ports");
    return {};
  }
  facts.library = own_path();
  facts.default_interfaces = host::default_route_interfaces();
  facts.cable_interfaces = cable_interfaces(facts.default_interfaces, settings->ports);
  return Preset(facts);
}

}  // namespace

abi::Result init(abi::Logger logger) {
  const Log log(logger);
  auto* const decided = new Preset(decide(log));
  const Preset* expected = nullptr;
  if (!preset.compare_exchange_strong(expected, decided)) {
    delete decided;
    return abi::kSuccess;
  }
  if (!decided->values().empty()) {
    log.info(absl::StrCat("preset, where nothing else is set: ",
                          absl::StrJoin(decided->values(), " ", absl::PairFormatter("="))));
  }
  return abi::kSuccess;
}

abi::Result finalize() {
  return abi::kSuccess;
}

const char* get_env(const char* name) {
  static const Preset kNothing;
  const Preset* const decided = preset.load();
  return (decided != nullptr ? *decided : kNothing).get(name, ::getenv);
}

}  // namespace cableway::nccl::env
