#include "nccl_adapter/preset/preset.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nccl_adapter/abi/network_name.h"
#include "nccl_adapter/preset/bootstrap_interface.h"
#include "nccl_adapter/preset/least_channels.h"

namespace cableway::nccl {
namespace {

constexpr std::size_t kMostNcclName = 254;  // bytes; NCCL ignores a longer name in NCCL_NET_PLUGIN

// NCCL_NET_PLUGIN is a list; a comma in a path would end the name.
bool can_be_listed(const std::string& library) {
  return !library.empty() && library.size() <= kMostNcclName && library.find(',') == std::string::npos;
}

// Of a list NCCL takes the first that starts, which may be another one.
bool is_this_library_alone(std::string_view plugins) {
  if (plugins.find(',') != std::string_view::npos) return false;
  const std::string_view name = plugins.substr(plugins.rfind('/') + 1);
  return absl::EqualsIgnoreCase(std::string(name), kNetworkName) || name == "libnccl-net-cableway.so";
}

}  // namespace

Preset::Preset(const PresetFacts& facts) {
  // Without the path, the other values would go to a job over whatever network NCCL finds.
  if (facts.extent == PresetExtent::kNothing || !can_be_listed(facts.library)) return;
  // By path: the loader need not find the name. NCCL_NET is not set: it would replace the network that an application
  // names (config.netName), and end jobs that need no network where the plugin cannot start.
  values_.emplace("NCCL_NET_PLUGIN", facts.library);
  if (facts.extent == PresetExtent::kPluginAlone) return;
  // Else NCCL 2.28 does not find the plugin again after a process's last communicator.
  values_.emplace("NCCL_NET_PLUGIN_REF_COUNT", "1");
  values_.emplace(kLeastChannelsVariable, absl::StrCat(kLeastChannels));
  // Else NCCL may take a cable.
  const std::optional<std::string> interface = bootstrap_interface(facts.default_interfaces, facts.cable_interfaces);
  if (interface) values_.emplace(kBootstrapVariable, exactly(*interface));
}

const char* Preset::get(const char* name, const Environment& environment) const {
  if (name == nullptr) return nullptr;
  if (const char* const set = environment(name); set != nullptr) return set;
  const auto value = values_.find(std::string_view(name));
  if (value == values_.end() || !leaves_network_to_cableway(environment)) return nullptr;
  const auto is_set = [&](const char* other) { return environment(other) != nullptr; };
  if (value->first == kLeastChannelsVariable && find_channels_of_the_user(is_set) != nullptr) return nullptr;
  return value->second.c_str();
}

bool leaves_network_to_cableway(const Preset::Environment& environment) {
  if (names_another_network(environment("NCCL_NET"))) return false;
  const char* const plugin = environment("NCCL_NET_PLUGIN");
  return plugin == nullptr || is_this_library_alone(plugin);
}

}  // namespace cableway::nccl
