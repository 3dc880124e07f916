#include "nccl_adapter/preset/preset.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cableway::nccl {
namespace {

constexpr std::size_t kMostNcclName = 254;  // bytes; NCCL ignores a longer name in NCCL_NET_PLUGIN

// NCCL raises the number of channels to NCCL_MIN_NCHANNELS last, above every maximum; the others are minima that the
// user has chosen.
constexpr std::string_view kMinChannels = "NCCL_MIN_NCHANNELS";
constexpr std::array<const char*, 5> kChannelsOfTheUser = {"NCCL_MAX_NCHANNELS", "NCCL_MAX_NRINGS", "NCCL_MIN_NRINGS",
                                                           "NCCL_MIN_CTAS", "NCCL_MAX_CTAS"};

// NCCL_NET_PLUGIN is a list; a comma in a path would end the name.
bool can_be_listed(const std::string& library) {
  return !library.empty() && library.size() <= kMostNcclName && library.find(',') == std::string::npos;
}

// Of a list NCCL takes the first that starts, which may be another one.
bool is_this_library_alone(std::string_view plugins) {
  if (plugins.find(',') != std::string_view::npos) return false;
  const std::string_view name = plugins.substr(plugins.rfind('/') + 1);
  return absl::EqualsIgnoreCase(std::string(name), "cableway") || name == "libnccl-net-cableway.so";
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
  // For the rate of one cable NCCL opens two channels at most: too few flows for several paths. The same on every host,
  // as ranks must agree on their channels; so it does not depend on the ports here.
  values_.emplace(kMinChannels, "4");
  // Else NCCL may take a cable, over which not all ranks reach each other. Where only cables have a default route,
  // there may be no other interface: the choice is the user's.
  const auto is_cable = [&](const std::string& name) {
    return std::find(facts.cable_interfaces.begin(), facts.cable_interfaces.end(), name) !=
           facts.cable_interfaces.end();
  };
  const auto found = std::find_if_not(facts.default_interfaces.begin(), facts.default_interfaces.end(), is_cable);
  // NCCL matches a name as a prefix unless it starts with "=".
  if (found != facts.default_interfaces.end()) values_.emplace("NCCL_SOCKET_IFNAME", absl::StrCat("=", *found));
}

const char* Preset::get(const char* name, const Environment& environment) const {
  if (name == nullptr) return nullptr;
  if (const char* const set = environment(name); set != nullptr) return set;
  const auto value = values_.find(std::string_view(name));
  if (value == values_.end() || !leaves_network_to_cableway(environment)) return nullptr;
  const auto is_set = [&](const char* other) { return environment(other) != nullptr; };
  if (value->first == kMinChannels && std::any_of(kChannelsOfTheUser.begin(), kChannelsOfTheUser.end(), is_set)) {
    return nullptr;
  }
  return value->second.c_str();
}

bool leaves_network_to_cableway(const Preset::Environment& environment) {
  const char* const net = environment("NCCL_NET");
  if (net != nullptr && !absl::EqualsIgnoreCase(net, "cableway")) return false;
  const char* const plugin = environment("NCCL_NET_PLUGIN");
  return plugin == nullptr || is_this_library_alone(plugin);
}

}  // namespace cableway::nccl
