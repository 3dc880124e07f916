#include "nccl_adapter/preset/host_preset.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/linux/files/settings_reader.h"
#include "core/linux/os/own_library.h"
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

// How much the preset sets, and, unless all, why.
struct Extent {
  PresetExtent extent = PresetExtent::kNothing;
  std::string reason;
};

// Where no node runs every process would start one, also those of jobs on one GPU; so that takes a word of the user's.
// A user whom the node does not admit has jobs over another network. A node that is busy counts as one that runs.
Extent extent_of(const Settings& settings) {
  const absl::StatusOr<host::SessionNames> names = host::session_names(settings);
  if (!names.ok()) return {PresetExtent::kPluginAlone, std::string(names.status().message())};
  const absl::Status node = host::dial_node(*names).status();
  if (node.ok() || absl::IsUnavailable(node)) return {PresetExtent::kAll, ""};
  const bool starts_node = absl::IsNotFound(node) && settings.origins.contains("preset");
  return starts_node ? Extent{PresetExtent::kAll, ""} : Extent{PresetExtent::kNothing, std::string(node.message())};
}

Preset decide(const Log& log) {
  const absl::StatusOr<Settings> settings =
      host::read_settings({.environment = environ, .host_name = host::host_name(), .options = {}});
  if (settings.ok() && !settings->preset) return {};
  const Extent extent = settings.ok() ? extent_of(*settings)
                                      : Extent{PresetExtent::kPluginAlone, std::string(settings.status().message())};
  if (!extent.reason.empty()) {
    log.info(absl::StrCat(extent.extent == PresetExtent::kNothing ? "no preset: " : "preset of the plugin alone: ",
                          extent.reason));
  }
  PresetFacts facts;
  facts.extent = extent.extent;
  facts.library = host::own_library();
  if (extent.extent == PresetExtent::kAll) {
    facts.default_interfaces = host::default_route_interfaces();
    facts.cable_interfaces = cable_interfaces(facts.default_interfaces, settings->ports);
  }
  return Preset(facts);
}

void decide_once(const Log& log) {
  auto decided = std::make_unique<Preset>(decide(log));
  if (!decided->values().empty()) {
    log.info(absl::StrCat("preset, where nothing else is set: ",
                          absl::StrJoin(decided->values(), " ", absl::PairFormatter("="))));
  }
  const Preset* expected = nullptr;
  if (preset.compare_exchange_strong(expected, decided.get())) static_cast<void>(decided.release());
}

}  // namespace

abi::Result init(abi::Logger logger) {
  try {
    decide_once(Log(logger));
  } catch (const std::exception&) {
    return abi::kSuccess;  // NCCL has its environment alone
  }
  return abi::kSuccess;
}

abi::Result finalize() {
  return abi::kSuccess;
}

const char* get_env(const char* name) {
  const Preset* const decided = preset.load();
  if (decided != nullptr) return decided->get(name, ::getenv);
  return name == nullptr ? nullptr : ::getenv(name);
}

}  // namespace cableway::nccl::env
